import { processes } from '../domain/jobs/jobs.running.ts';
import { mitigationsDueJob } from '../domain/risks/mitigations.due.job.ts';
import { openDueOccurrences } from '../domain/risks/tasks.due.ts';

/** Opens the scheduled occurrences of mitigation tasks whose time has come. */
export const mitigationsDueProcessor = processes(mitigationsDueJob, async (job) => ({
  counts: { opened: await openDueOccurrences(job) },
}));
