import {
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type JobsOptions,
  Queue,
  runMigrations,
  Worker,
} from 'bullmq';
import pg from 'pg';
import type { Logger } from '../logging.ts';
import { within } from '../within.ts';

interface QueueBackendOptions {
  /** Given: the queue is on Redis; else on PostgreSQL. */
  redisUrl: string | undefined;
  databaseUrl: string;
  /** Separates installations that share one Redis. */
  namespace: string;
  log: Logger;
}

const ANSWER_MS = 5_000;
const RETRY_MS = 1_000;
/** One to receive runs, the others to acknowledge them. */
const WORKER_CONNECTIONS = 3;

/** A run leaves the queue when it has ended, however it did, so that nothing piles up. */
const runOptions: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

const workerOptions = {
  // A run of a crashed worker is only redelivered to update the queue: the lease in the row is decisive.
  maxStalledCount: 1_000_000,
  // the wait after a lost connection; the default is 15 s
  runRetryDelay: RETRY_MS,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** BullMQ on Redis, or on PostgreSQL in a schema of its own; chosen by `redisUrl` alone. */
export function createQueueBackend(options: QueueBackendOptions): QueueBackend {
  const { redisUrl, log } = options;
  const postgres = redisUrl
    ? undefined
    : openQueuePostgres({ url: options.databaseUrl, answerMs: ANSWER_MS });
  const prefix = `estate:${options.namespace}`;
  const opened = new Map<Queue, pg.Pool | undefined>();
  const queues = new Map<string, Promise<Queue>>();
  let closed = false;

  /** Errors are frequent while a server is unavailable: each message is logged once until it is available again. */
  const reporter = (queue: string) => {
    let last = '';
    return (error: Error) => {
      if (closed || error.message === last) return;
      last = error.message;
      log.warn({ err: error, queue }, 'the queue reports an error');
    };
  };

  const closeQueue = async (queue: Queue): Promise<void> => {
    const pool = opened.get(queue);
    opened.delete(queue);
    await queue.close().catch(() => undefined);
    await pool?.end();
  };
  const openQueue = async (name: string): Promise<Queue> => {
    await postgres?.prepared();
    const common = { prefix, streams: { events: { maxLen: 100 } } };
    const pool = postgres?.pool(1);
    const queue = (
      pool
        ? new Queue(name, { ...common, connection: pool }, createPollingBackend)
        : new Queue(name, {
            ...common,
            // `add` must reject while Redis is unavailable, not wait.
            connection: { url: redisUrl!, maxRetriesPerRequest: 1, enableOfflineQueue: false },
          })
    ) as Queue;
    opened.set(queue, pool);
    queue.on('error', reporter(name));
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      await closeQueue(queue);
      throw error;
    }
  };
  const queueOf = (name: string): Promise<Queue> => {
    const known = queues.get(name);
    if (known) return known;
    const open = openQueue(name);
    queues.set(name, open);
    // A queue caches a failed initialisation: the next call creates a new one.
    open.catch(() => queues.delete(name));
    return open;
  };

  return {
    async add(name, runId, run) {
      const work = queueOf(name).then((queue) => queue.add('run', run, { ...runOptions, jobId: runId }));
      await answered(work, name);
    },
    async state(name, runId) {
      const state = await answered(
        queueOf(name).then((queue) => queue.getJobState(runId)),
        name,
      );
      return states[state] ?? 'missing';
    },
    worker(name, concurrency, handler) {
      const report = reporter(name);
      return superviseWorker(async () => {
        await postgres?.prepared().catch((error) => {
          report(error);
          throw error;
        });
        const process = async (job: { data: QueuedRun }) => await handler(job.data);
        const common = { ...workerOptions, prefix, concurrency };
        const pool = postgres?.pool(WORKER_CONNECTIONS);
        const worker = pool
          ? new Worker(name, process, { ...common, connection: pool }, createPollingBackend)
          : new Worker(name, process, {
              ...common,
              connection: { url: redisUrl!, maxRetriesPerRequest: null },
            });
        worker.on('error', report);
        return { worker: worker as Worker, pool };
      });
    },
    async close() {
      closed = true;
      await Promise.all([...opened.keys()].map((queue) => within(closeQueue(queue), ANSWER_MS)));
    },
  };
}

const states: Record<string, QueuedState> = {
  waiting: 'waiting',
  prioritized: 'waiting',
  delayed: 'waiting',
  active: 'active',
};

interface OpenWorker {
  worker: Worker;
  /** Its own, where the queue is on PostgreSQL. */
  pool: pg.Pool | undefined;
}

/** Ends a worker; when it has, nothing of it is under way that might take a run yet. */
async function closeWorker({ worker, pool }: OpenWorker, force: boolean): Promise<void> {
  const closed = worker.close(force);
  // closing once begun cannot be hurried: the connection goes from under it
  await (force ? worker.disconnect() : closed);
  if (pool && !pool.ending) await pool.end();
  await closed;
}

/** A worker that is made again until it has connected once; from then on it connects again by itself. */
function superviseWorker(create: () => Promise<OpenWorker>): QueueWorker {
  let closing = false;
  let open: OpenWorker | undefined;
  const ready = (async () => {
    while (!closing) {
      try {
        open = await create();
        if (!closing) return await open.worker.waitUntilReady();
      } catch {
        // reported already; made again
      }
      if (open) await closeWorker(open, true).catch(() => undefined);
      open = undefined;
      if (!closing) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  })();
  return {
    async close(force) {
      closing = true;
      if (force) {
        if (open) await within(closeWorker(open, true), ANSWER_MS);
        return;
      }
      if (open) await closeWorker(open, false);
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

/** The queue's connections to PostgreSQL. */
interface QueuePostgres {
  /** A pool of at most so many connections, the one of who asks: it ends when nothing of theirs is under way any more. */
  pool(most: number): pg.Pool;
  /** Resolves when the schema of the queue stands; after a failure the next call tries again. */
  prepared(): Promise<void>;
}

/**
 * The longest that a worker waits for a notification of a run before it looks by itself, in seconds. BullMQ's own limit is an
 * hour after an outage, and a notification while a worker reconnects is lost.
 */
const LONGEST_WAIT_SECONDS = 5;

/** @param answerMs the longest that a connection may take to be made, in milliseconds. */
function openQueuePostgres({ url, answerMs }: { url: string; answerMs: number }): QueuePostgres {
  const open = (most: number): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      options: `-c search_path=${DEFAULT_SCHEMA}`,
      max: most,
      keepAlive: true,
      connectionTimeoutMillis: answerMs,
      application_name: 'estate queue',
    });
    // A server that ends may say so in the same breath in which it lets a connection begin. That is before anyone who
    // asked for the connection can listen to it, and an error that nobody listens to ends the process; who holds the
    // connection hears of its loss by the next event or statement.
    pool.on('connect', (client) => client.on('error', () => undefined));
    pool.on('error', () => undefined);
    return pool;
  };
  const prepare = async () => {
    const pool = open(1);
    try {
      const client = await pool.connect();
      // under a lock of its own; any number of processes may begin at once
      await runMigrations(client).finally(() => client.release(true));
    } finally {
      await pool.end();
    }
  };
  let preparing: Promise<void> | undefined;
  return {
    pool: open,
    prepared() {
      preparing ??= prepare().catch((error) => {
        preparing = undefined;
        throw error;
      });
      return preparing;
    },
  };
}

/** BullMQ's backend on PostgreSQL, which looks for runs at least every few seconds. */
const createPollingBackend: typeof createPostgresBackend = (name, options, factoryOptions) => {
  const backend = createPostgresBackend(name, options, factoryOptions);
  Object.defineProperty(backend, 'maximumBlockTimeout', { value: LONGEST_WAIT_SECONDS });
  return backend;
};

/** What travels through the queue: the job's row and the run that is meant. Everything else is in the row. */
export interface QueuedRun {
  id: string;
  attempt: number;
}

/** Where the queue has a run: `missing` if it is lost or completed. */
type QueuedState = 'waiting' | 'active' | 'missing';

export interface QueueWorker {
  /** Takes no more runs, and resolves when those under way have ended. `force` doesn't wait for them. */
  close(force: boolean): Promise<void>;
}

/**
 * Delivers runs to workers. It may lose or repeat any of them at any time: the database decides who executes what, and
 * how it ended.
 */
export interface QueueBackend {
  /** Adds a run under an id of its own; does nothing while the queue knows that id. Rejects when it is away. */
  add(queue: string, runId: string, run: QueuedRun): Promise<void>;
  /** Rejects when the queue is away. */
  state(queue: string, runId: string): Promise<QueuedState>;
  /** Begins to take runs, up to `concurrency` at a time; connects again by itself for as long as it is open. */
  worker(queue: string, concurrency: number, handler: (run: QueuedRun) => Promise<void>): QueueWorker;
  /** Closes what `add` and `state` hold; workers are closed by their own. */
  close(): Promise<void>;
}
