import { runModelImport } from '../domain/archimate/archimate.import.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { archimateExportJob, archimateImportJob } from '../domain/jobs/kinds/archimate.ts';
import { runModelExport } from '../reports/archimate/archimate.export.ts';

export const archimateImportProcessor = processes(archimateImportJob, runModelImport);
export const archimateExportProcessor = processes(archimateExportJob, runModelExport);
