import { builtInSchedules } from '../domain/app/schedules.data.ts';
import { jobQueues } from '../domain/kernel/jobs/jobs.define.ts';
import { JOB_CANCEL_CHANNEL } from '../domain/kernel/jobs/jobs.lease.ts';
import type { JobProcessor } from '../domain/kernel/jobs/jobs.running.ts';
import { ensureSchedule } from '../domain/kernel/jobs/schedules.fire.ts';
import type { Services } from '../domain/kernel/services.ts';
import { openDatabase } from '../platform/database.ts';
import { installation } from '../platform/installation.ts';
import { throughOutages } from '../platform/outage.ts';
import { createQueueBackend } from '../platform/queue/queue.ts';
import { startItsmFollower } from './itsm-follower.ts';
import { startNotifier } from './notifier.ts';
import { processors as allProcessors } from './processors.ts';
import { startRelay } from './relay.ts';
import { createRunner } from './runtime.run.ts';
import { startScheduler } from './scheduler.ts';
import { startWebhooks } from './webhooks.ts';

/** What is left of the grace time for stopping runs and closing connections, in milliseconds. */
const STOP_MS = 1_500;
const CLOSE_MS = 1_000;

export interface Workers {
  /**
   * Takes no more jobs, waits for those under way for most of the time, and gives back the others, so that another
   * worker goes on with them at once.
   */
  close(remainingMs: number): Promise<void>;
}

/** Starts what carries out jobs in this process: relay, scheduler, notifier, webhooks, follower of changes and a worker for each queue. */
export async function startWorkers(
  services: Services,
  processors: readonly JobProcessor[] = allProcessors,
): Promise<Workers> {
  const { config, db, log, signals } = services;
  const databaseUrl = config.databaseUrl!;
  for (const schedule of builtInSchedules) await throughOutages(log, () => ensureSchedule(db, schedule));
  const queue = createQueueBackend({
    redisUrl: config.redisUrl,
    databaseUrl,
    namespace: await throughOutages(log, () => installation(db)),
    log,
  });
  const leases = openDatabase({ url: databaseUrl, name: 'estate leases', poolMax: 4 });
  const runner = createRunner({ services, leases, processors });
  const workers = jobQueues.map((name) => queue.worker(name, config.workerConcurrency, runner.run));
  const relay = startRelay({ db: leases, queue, signals, log });
  const scheduler = startScheduler({ db, signals, log });
  const notifier = startNotifier(services);
  const webhooks = startWebhooks(services);
  const itsmFollower = startItsmFollower(services);
  const unlisten = signals.on(JOB_CANCEL_CHANNEL, (id) => runner.check(id || undefined));

  return {
    async close(remainingMs) {
      const deadline = performance.now() + remainingMs;
      const left = (reserve: number) => Math.max(0, deadline - performance.now() - reserve);
      unlisten();
      await within(
        Promise.all([relay.stop(), scheduler.stop(), notifier.stop(), webhooks.stop(), itsmFollower.stop()]),
        left(STOP_MS + CLOSE_MS),
      );
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

/** Waits for the work, but no longer than `ms`; its errors are not ours to end with. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
