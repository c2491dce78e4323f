import { runImport } from '../domain/imports/imports.run.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { importJob } from '../domain/jobs/kinds/import.ts';

export const importProcessor = processes(importJob, runImport);
