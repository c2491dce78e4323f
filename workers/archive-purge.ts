import { archivePurgeJob } from '../domain/inventory/cards/archive-purge.job.ts';
import { purgeArchive } from '../domain/inventory/cards/cards.delete.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Deletes the cards that were archived longer ago than the settings keep them. */
export const archivePurgeProcessor = processes(archivePurgeJob, async (job) => ({
  counts: { deleted: await purgeArchive(job) },
}));
