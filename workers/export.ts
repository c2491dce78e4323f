import { exportJob } from '../domain/exchange/exports/export.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { runExport } from '../reports/exchange/extraction/exports.job.ts';

export const exportProcessor = processes(exportJob, runExport);
