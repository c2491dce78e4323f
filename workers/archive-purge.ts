import { archivePurgeJob } from '../domain/cards/archive-purge.job.ts';
import { purgeArchive } from '../domain/cards/cards.purge.ts';
import { processes } from '../domain/jobs/jobs.running.ts';

/** Deletes the cards that were archived longer ago than the settings keep them. */
export const archivePurgeProcessor = processes(archivePurgeJob, async (job) => ({
  counts: { deleted: await purgeArchive(job) },
}));
