import { cleanUp } from '../domain/jobs/housekeeping.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { housekeepingJob } from '../domain/jobs/kinds/housekeeping.ts';

export const housekeepingProcessor = processes(housekeepingJob, async (job, { db, blobs }) => ({
  counts: await cleanUp(db, blobs, job.signal),
}));
