import { runModelImport } from '../domain/exchange/archimate/archimate.import.ts';
import { archimateExportJob, archimateImportJob } from '../domain/exchange/archimate/archimate.jobs.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { runModelExport } from '../reports/exchange/archimate/archimate.export.ts';

export const archimateImportProcessor = processes(archimateImportJob, runModelImport);
export const archimateExportProcessor = processes(archimateExportJob, runModelExport);
