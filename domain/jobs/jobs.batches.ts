import { command, type Work } from '../command.ts';
import type { RunningJob } from './jobs.running.ts';

/**
 * Opens what has become due, batch by batch, each in a transaction of its own with the count that the job has come to, until a
 * batch is not full. Run again it finds none.
 * @param openBatch opens at most `size`, and tells how many. @returns how many there were, those of earlier attempts included.
 */
export async function openInBatches(
  job: RunningJob,
  size: number,
  openBatch: (work: Work) => Promise<number>,
): Promise<number> {
  let opened = job.counts.opened ?? 0;
  for (;;) {
    job.signal.throwIfAborted();
    const batch = await command(job.ctx, async (work) => {
      const n = await openBatch(work);
      if (n > 0) await job.checkpoint(work, { counts: { opened: opened + n } });
      return n;
    });
    opened += batch;
    if (batch < size) return opened;
  }
}
