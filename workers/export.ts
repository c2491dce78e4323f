import { exportJob } from '../domain/exports/export.job.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { runExport } from '../reports/extraction/exports.run.ts';

export const exportProcessor = processes(exportJob, runExport);
