import { JOBS_CHANNEL } from '../domain/kernel/jobs/jobs.enqueue.ts';
import {
  type DueRun,
  markNotEnqueued,
  nextAttempt,
  requeueExpired,
  takeDueRuns,
} from '../domain/kernel/jobs/jobs.lease.ts';
import type { Db } from '../platform/database.ts';
import type { Logger } from '../platform/logging.ts';
import type { QueueBackend } from '../platform/queue/queue.ts';
import type { Signals } from '../platform/signals.ts';
import { type Loop, startLoop } from './loop.ts';

const BATCH = 100;

interface RelayServices {
  db: Db;
  queue: QueueBackend;
  signals: Signals;
  log: Logger;
}

/** The name of a run in the queue; each run has its own. */
export const runName = (run: { id: string; attempt: number }): string => `${run.id}-${run.attempt}`;

/**
 * Adds committed jobs to the queue, again if the queue has lost them, and requeues the jobs whose leases have expired. Any number
 * of relays share the work.
 */
export function startRelay({ db, queue, signals, log }: RelayServices): Loop {
  /** @returns whether the run was new to the queue. */
  const handOver = async (run: DueRun): Promise<boolean> => {
    const target = { id: run.id, attempt: run.attempt };
    if (run.again) {
      const state = await queue.state(run.queue, runName(run));
      if (state === 'waiting') return false;
      if (state === 'active') {
        if (!(await nextAttempt(db, run))) return false;
        target.attempt += 1;
      }
    }
    await queue.add(run.queue, runName(target), target);
    return true;
  };

  /** @returns whether there may be more runs to enqueue. */
  const handOverBatch = async (): Promise<boolean> => {
    const runs = await takeDueRuns(db, BATCH);
    const outcomes = await Promise.allSettled(runs.map(handOver));
    const failed = runs.filter((_, index) => outcomes[index]!.status === 'rejected').map(({ id }) => id);
    if (failed.length > 0) {
      await markNotEnqueued(db, failed);
      throw outcomes.find((outcome) => outcome.status === 'rejected')!.reason;
    }
    const hasNew = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
    return runs.length === BATCH && hasNew;
  };

  return startLoop(
    {
      signals,
      log,
      channel: JOBS_CHANNEL,
      pollMs: 2_000,
      failure: 'jobs could not be added to the queue; trying again',
    },
    async (stop) => {
      const expired = await requeueExpired(db);
      if (expired.length > 0) log.warn({ jobs: expired }, 'jobs with expired leases were requeued');
      let hasMore = true;
      while (hasMore && !stop.aborted) hasMore = await handOverBatch();
    },
  );
}
