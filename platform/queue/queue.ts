import { createPostgresBackend, type JobsOptions, Queue, Worker } from 'bullmq';
import type { Logger } from '../logging.ts';
import type { QueueBackend, QueuedRun, QueuedState, QueueWorker } from './queue.types.ts';

export interface QueueBackendOptions {
  /** Given: the queue is on Redis; else on PostgreSQL. */
  redisUrl: string | undefined;
  databaseUrl: string;
  /** Keeps installations apart that share one Redis. */
  namespace: string;
  log: Logger;
}

interface OpenQueue {
  queue: Queue;
  /** The queue, once it has connected. */
  ready: Promise<Queue>;
}

const ANSWER_MS = 5_000;
const RETRY_MS = 1_000;

/** A run leaves the queue when it has ended, however it did, so that nothing piles up. */
const runOptions: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

const workerOptions = {
  // what a killed worker held comes back for its own sake only: the lease in the row decides
  maxStalledCount: 1_000_000,
  // the wait after a lost connection; the default is 15 s
  runRetryDelay: RETRY_MS,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** BullMQ on Redis, or on PostgreSQL in a schema of its own; chosen by `redisUrl` alone. */
export function createQueueBackend(options: QueueBackendOptions): QueueBackend {
  const { redisUrl, log } = options;
  const prefix = `estate:${options.namespace}`;
  const queues = new Map<string, OpenQueue>();
  let closed = false;

  /** Errors come by the dozen while a server is away: one line for each message until it is back. */
  const reporter = (queue: string) => {
    let last = '';
    return (error: Error) => {
      if (closed || error.message === last) return;
      last = error.message;
      log.warn({ err: error, queue }, 'the queue reports an error');
    };
  };

  const openQueue = (name: string): OpenQueue => {
    const common = { prefix, streams: { events: { maxLen: 100 } } };
    const queue = (
      redisUrl
        ? new Queue(name, {
            ...common,
            // an `add` must reject while Redis is away, not wait
            connection: { url: redisUrl, maxRetriesPerRequest: 1, enableOfflineQueue: false },
          })
        : new Queue(name, { ...common, connection: postgres(options, 1) }, createPostgresBackend)
    ) as Queue;
    queue.on('error', reporter(name));
    const ready = queue.waitUntilReady().then(
      () => queue,
      async (error) => {
        // a queue remembers a failed beginning for ever: the next call makes a new one
        queues.delete(name);
        await queue.close().catch(() => undefined);
        throw error;
      },
    );
    // told to whoever waits for it
    ready.catch(() => undefined);
    return { queue, ready };
  };
  const queueOf = (name: string): Promise<Queue> => {
    const open = queues.get(name) ?? openQueue(name);
    queues.set(name, open);
    return open.ready;
  };

  return {
    async add(name, runId, run) {
      await answered(
        queueOf(name).then((queue) => queue.add('run', run, { ...runOptions, jobId: runId })),
        name,
      );
    },
    async state(name, runId) {
      const state = await answered(
        queueOf(name).then((queue) => queue.getJobState(runId)),
        name,
      );
      return states[state] ?? 'missing';
    },
    worker: (name, concurrency, handler) =>
      keepWorker(() => {
        const process = async (job: { data: QueuedRun }) => await handler(job.data);
        const common = { ...workerOptions, prefix, concurrency };
        const worker = redisUrl
          ? new Worker(name, process, {
              ...common,
              connection: { url: redisUrl, maxRetriesPerRequest: null },
            })
          : new Worker(name, process, { ...common, connection: postgres(options, 2) }, createPostgresBackend);
        worker.on('error', reporter(name));
        return worker as Worker;
      }),
    async close() {
      closed = true;
      await Promise.all([...queues.values()].map(({ queue }) => within(queue.close(), ANSWER_MS)));
    },
  };
}

const states: Record<string, QueuedState> = {
  waiting: 'waiting',
  prioritized: 'waiting',
  delayed: 'waiting',
  active: 'active',
};

function postgres({ databaseUrl }: QueueBackendOptions, max: number) {
  return {
    connectionString: databaseUrl,
    schema: 'bullmq',
    // under a lock of its own; any number of processes may begin at once
    migrate: true,
    max,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_MS,
    application_name: 'estate queue',
  };
}

/** A worker that is made anew until it has connected once; from then on it connects again by itself. */
function keepWorker(create: () => Worker): QueueWorker {
  let closing = false;
  let worker = create();
  const ready = (async () => {
    while (!closing) {
      try {
        return await worker.waitUntilReady();
      } catch {
        await worker.close(true).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        if (!closing) worker = create();
      }
    }
  })();
  return {
    async close(force) {
      closing = true;
      if (force) {
        // closing once begun cannot be hurried: the connection goes from under it
        await within(Promise.all([worker.close(true), worker.disconnect()]), ANSWER_MS);
        return;
      }
      await worker.close();
      await ready;
    },
  };
}

/** The answer, or an error when there is none in time. */
async function answered<T>(work: Promise<T>, queue: string): Promise<T> {
  const answer = await within(
    work.then((value) => ({ value })),
    ANSWER_MS,
  );
  if (!answer) throw new Error(`the queue ${queue} does not answer`);
  return answer.value;
}

/** The value, or undefined when it takes longer than `ms`. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    // a late rejection has nobody left to tell
    work.catch(() => undefined);
  }
}
