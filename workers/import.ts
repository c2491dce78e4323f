import { importJob } from '../domain/exchange/imports/imports.job.ts';
import { runImport } from '../domain/exchange/imports/imports.run.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

export const importProcessor = processes(importJob, runImport);
