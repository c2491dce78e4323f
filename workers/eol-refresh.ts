import { eolRefreshJob } from '../domain/governance/eol/eol.refresh.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { refreshFacts } from '../integrations/eol/eol.refresh.ts';

/** Reads the end-of-life facts of all products anew. */
export const eolRefreshProcessor = processes(eolRefreshJob, (job, services) => refreshFacts(job, services));
