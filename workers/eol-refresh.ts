import { processes } from '../domain/jobs/jobs.running.ts';
import { eolRefreshJob } from '../domain/jobs/kinds/eol-refresh.ts';
import { refreshFacts } from '../integrations/eol/eol.refresh.ts';

/** Reads the end-of-life facts of all products anew. */
export const eolRefreshProcessor = processes(eolRefreshJob, (job, services) => refreshFacts(job, services));
