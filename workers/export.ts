import { processes } from '../domain/jobs/jobs.running.ts';
import { exportJob } from '../domain/jobs/kinds/export.ts';
import { runExport } from '../reports/extraction/exports.run.ts';

export const exportProcessor = processes(exportJob, runExport);
