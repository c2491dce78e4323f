import { eraseUserJob } from '../domain/access/erasure/erasure.job.ts';
import { eraseUser } from '../domain/access/erasure/erasure.run.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Replaces a person's name and address wherever the service has written them. */
export const eraseUserProcessor = processes(eraseUserJob, async (job) => {
  await eraseUser(job);
  return {};
});
