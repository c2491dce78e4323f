import { mitigationsDueJob } from '../domain/governance/risks/mitigations.due.job.ts';
import { openDueOccurrences } from '../domain/governance/risks/tasks.due.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Opens the scheduled occurrences of mitigation tasks whose time has come. */
export const mitigationsDueProcessor = processes(mitigationsDueJob, async (job) => ({
  counts: { opened: await openDueOccurrences(job) },
}));
