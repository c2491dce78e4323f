import { purgeArchive } from '../domain/cards/cards.purge.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { archivePurgeJob } from '../domain/jobs/kinds/archive-purge.ts';

/** Deletes the cards that were archived longer ago than the settings keep them. */
export const archivePurgeProcessor = processes(archivePurgeJob, async (job) => ({
  counts: { deleted: await purgeArchive(job) },
}));
