import { JOBS_CHANNEL } from '../domain/kernel/jobs/jobs.enqueue.ts';
import {
  clearHandover,
  type DueRun,
  nextAttempt,
  requeueExpired,
  takeDueRuns,
} from '../domain/kernel/jobs/jobs.lease.ts';
import type { Db } from '../platform/database.ts';
import type { Logger } from '../platform/logging.ts';
import type { QueueBackend } from '../platform/queue/queue.types.ts';
import type { Signals } from '../platform/signals.ts';

const POLL_MS = 2_000;
const BATCH = 100;

export interface Relay {
  stop(): Promise<void>;
}

/** The name of a run in the queue. A name is used for one run alone. */
export function runName(run: { id: string; attempt: number }): string {
  return `${run.id}-${run.attempt}`;
}

/**
 * Hands committed jobs over to the queue, again when the queue has forgotten them, and gives back the runs of
 * workers that have fallen silent. Any number of relays share the work.
 */
export function startRelay({
  db,
  queue,
  signals,
  log,
}: {
  db: Db;
  queue: QueueBackend;
  signals: Signals;
  log: Logger;
}): Relay {
  let stopped = false;
  let round: Promise<void> | undefined;
  let again = false;
  let failing = false;

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

  const handOverAll = async (): Promise<void> => {
    for (;;) {
      const runs = await takeDueRuns(db, BATCH);
      const outcomes = await Promise.allSettled(runs.map(handOver));
      const failed = runs.filter((_, index) => outcomes[index]!.status === 'rejected');
      if (failed.length > 0) {
        await clearHandover(
          db,
          failed.map(({ id }) => id),
        );
        throw outcomes.find((outcome) => outcome.status === 'rejected')!.reason;
      }
      const news = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
      if (stopped || runs.length < BATCH || !news) return;
    }
  };

  const look = async (): Promise<void> => {
    try {
      const silent = await requeueExpired(db);
      if (silent.length > 0)
        log.warn({ jobs: silent }, 'jobs were taken back from a worker that fell silent');
      await handOverAll();
      failing = false;
    } catch (error) {
      // both sides come back by themselves; the next round tries again
      if (!failing) log.warn({ err: error }, 'jobs could not be handed over; trying again');
      failing = true;
    }
  };

  const wake = () => {
    if (stopped) return;
    if (round) {
      again = true;
      return;
    }
    round = look().finally(() => {
      round = undefined;
      if (!again) return;
      again = false;
      wake();
    });
  };

  const unlisten = signals.on(JOBS_CHANNEL, wake);
  const timer = setInterval(wake, POLL_MS);
  wake();

  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      unlisten();
      await round;
    },
  };
}
