import type { JobProcessor } from '../domain/jobs/jobs.running.ts';

/** What this program can carry out: one processor for each kind of job. */
export const processors: JobProcessor[] = [];
