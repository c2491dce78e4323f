import { createPostgresBackend, DEFAULT_SCHEMA, runMigrations } from 'bullmq';
import pg from 'pg';

/** The queue's connections to PostgreSQL. */
export interface QueuePostgres {
  /** A pool of at most so many connections, the one of who asks: it ends when nothing of theirs is under way any more. */
  pool(most: number): pg.Pool;
  /** Resolves when the schema of the queue stands; after a failure the next call tries again. */
  prepared(): Promise<void>;
}

/**
 * The longest that a worker waits to be told of a run before it looks by itself, in seconds. BullMQ's own limit is an
 * hour after an outage, and a word that was said while a worker connected anew is not said again.
 */
const LONGEST_WAIT_SECONDS = 5;

/** @param answerMs the longest that a connection may take to be made, in milliseconds. */
export function openQueuePostgres({ url, answerMs }: { url: string; answerMs: number }): QueuePostgres {
  const open = (most: number): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      options: `-c search_path=${DEFAULT_SCHEMA}`,
      max: most,
      keepAlive: true,
      connectionTimeoutMillis: answerMs,
      application_name: 'estate queue',
    });
    // A server that ends may say so in the same breath in which it lets a connection begin. That is before whoever
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
export const createPollingBackend: typeof createPostgresBackend = (name, options, factoryOptions) => {
  const backend = createPostgresBackend(name, options, factoryOptions);
  Object.defineProperty(backend, 'maximumBlockTimeout', { value: LONGEST_WAIT_SECONDS });
  return backend;
};
