import { importJob } from '../domain/imports/imports.job.ts';
import { runImport } from '../domain/imports/imports.run.ts';
import { processes } from '../domain/jobs/jobs.running.ts';

export const importProcessor = processes(importJob, runImport);
