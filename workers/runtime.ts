import { builtInSchedules } from '../domain/app/schedules.data.ts';
import { followFeed } from '../domain/collaboration/notifications/notifications.follow.ts';
import { jobQueues } from '../domain/kernel/jobs/jobs.define.ts';
import { JOB_CANCEL_CHANNEL } from '../domain/kernel/jobs/jobs.lease.ts';
import type { JobProcessor } from '../domain/kernel/jobs/jobs.running.ts';
import { ensureSchedule } from '../domain/kernel/jobs/schedules.fire.ts';
import type { Services } from '../domain/kernel/services.ts';
import { installation, openDatabase } from '../platform/database.ts';
import { retryDuringOutages } from '../platform/outage.ts';
import { createQueueBackend } from '../platform/queue/queue.ts';
import { within as valueWithin } from '../platform/within.ts';
import { startWebhooks } from './collaboration/webhooks.ts';
import { startItsmFollower } from './exchange/itsm-follower.ts';
import { type Loop, startLoop } from './loop.ts';
import { processors as allProcessors } from './processors.ts';
import { startRelay } from './relay.ts';
import { createRunner } from './runner.ts';
import { startScheduler } from './scheduler.ts';

/**
 * Creates notifications and their mails from new events. Any number of processes may run it: the position in the feed is one
 * row, which one of them locks at a time.
 */
export function startNotifier(services: Services): Loop {
  return startLoop(
    {
      ...services,
      channel: 'estate_feed',
      // also for mails that become due
      pollMs: 10_000,
      delayMs: 200,
      failure: 'notifications could not be created; trying again',
    },
    (stop) => followFeed(services, stop),
  );
}

/** The parts of the grace time reserved for stopping runs and for closing connections, in milliseconds. */
const STOP_MS = 1_500;
const CLOSE_MS = 1_000;

export interface Workers {
  /** Takes no more jobs, waits for running ones, and requeues those that do not end in time, so that another worker resumes them. */
  close(remainingMs: number): Promise<void>;
}

/** Starts the loops of a worker process and a worker for each queue. */
export async function startWorkers(
  services: Services,
  processors: readonly JobProcessor[] = allProcessors,
): Promise<Workers> {
  const { config, db, log, signals } = services;
  const databaseUrl = config.databaseUrl!;
  for (const schedule of builtInSchedules) await retryDuringOutages(log, () => ensureSchedule(db, schedule));
  const queue = createQueueBackend({
    redisUrl: config.redisUrl,
    databaseUrl,
    namespace: await retryDuringOutages(log, () => installation(db)),
    log,
  });
  const leases = openDatabase({ url: databaseUrl, name: 'estate leases', poolMax: 4 });
  const runner = createRunner({ services, leases, processors });
  const workers = jobQueues.map((name) => queue.worker(name, config.workerConcurrency, runner.run));
  const loops = [
    startRelay({ db: leases, queue, signals, log }),
    startScheduler(services),
    startNotifier(services),
    startWebhooks(services),
    startItsmFollower(services),
  ];
  const unlisten = signals.on(JOB_CANCEL_CHANNEL, (id) => runner.check(id || undefined));

  return {
    async close(remainingMs) {
      const deadline = performance.now() + remainingMs;
      const left = (reserve: number) => Math.max(0, deadline - performance.now() - reserve);
      unlisten();
      await within(Promise.all(loops.map((loop) => loop.stop())), left(STOP_MS + CLOSE_MS));
      const drained = Promise.all(workers.map((worker) => worker.close(false)));
      await within(drained, left(STOP_MS + CLOSE_MS));
      await within(runner.interrupt(left(CLOSE_MS + 500)), left(CLOSE_MS));
      await within(drained, left(CLOSE_MS / 2));
      await within(
        Promise.all([...workers.map((worker) => worker.close(true)), queue.close(), leases.destroy()]),
        left(0),
      );
    },
  };
}

/** Waits for the work, but no longer than `ms`; its errors are ignored. */
const within = (work: Promise<unknown>, ms: number) =>
  valueWithin(
    work.catch(() => undefined),
    ms,
  );
