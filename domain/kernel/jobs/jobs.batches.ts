import { command } from '../command.ts';
import type { Work } from '../context.ts';
import type { RunningJob } from './jobs.running.ts';

/**
 * Does what has become due, batch by batch, each in a transaction of its own with the count that the job has come to, until a
 * batch is not full. Run again it finds none.
 * @param counted what the job's count is called. @param doBatch does at most `size`, and tells how many.
 * @returns how many there were, those of earlier attempts included.
 */
export async function inBatches(
  job: RunningJob,
  counted: 'opened' | 'deleted',
  size: number,
  doBatch: (work: Work) => Promise<number>,
): Promise<number> {
  let done = job.counts[counted] ?? 0;
  for (;;) {
    job.signal.throwIfAborted();
    const batch = await command(job.ctx, async (work) => {
      const n = await doBatch(work);
      if (n > 0) await job.checkpoint(work, { counts: { [counted]: done + n } });
      return n;
    });
    done += batch;
    if (batch < size) return done;
  }
}
