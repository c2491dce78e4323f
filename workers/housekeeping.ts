import { housekeepingJob } from '../domain/app/housekeeping.job.ts';
import { cleanUp } from '../domain/app/housekeeping.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { cleanExtractions } from './extraction/extraction.retention.ts';

export const housekeepingProcessor = processes(housekeepingJob, async (job, services) => {
  // first, so that the files it gives up go with the others
  const extractions = await cleanExtractions(services, job.signal);
  return { counts: { ...(await cleanUp(services.db, services.blobs, job.signal)), extractions } };
});
