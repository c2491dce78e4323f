import { randomInt } from 'node:crypto';
import pg from 'pg';
import type { Logger } from './logging.ts';

type Listener = (payload: string) => void;

/** Notifications between processes by LISTEN/NOTIFY: a hint to read the database, never the data itself. */
export interface Signals {
  /** Names this process in the database: `process_alive` is true of it for as long as the connection lives. */
  readonly processNumber: number;
  /**
   * Calls `listener` on every notification, and once with an empty payload after each (re)connection, since
   * notifications in between are lost. Returns the function that ends it.
   */
  on(channel: string, listener: Listener): () => void;
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
/** First key of the advisory locks that show which processes live; also used by `process_alive`. */
const PROCESS_LOCKS = 7203091;

/** One connection for all channels of the process, which reconnects until it is closed. */
export function createSignals({ url, log }: { url: string; log: Logger }): Signals {
  const processNumber = randomInt(2 ** 31);
  const listeners = new Map<string, Set<Listener>>();
  let client: pg.Client | undefined;
  let closed = false;
  let retry = FIRST_RETRY_MS;
  let timer: NodeJS.Timeout | undefined;
  // one statement at a time on the one connection
  let last: Promise<unknown> = Promise.resolve();
  const listen = (on: pg.Client, channel: string) => {
    const listening = last.then(() => on.query(`listen ${pg.escapeIdentifier(channel)}`));
    last = listening.catch(() => undefined);
    return listening;
  };

  const notify = (channel: string, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };

  const connect = async () => {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'estate signals',
      keepAlive: true,
      // Detects within half a minute a host that vanished without closing its connections.
      options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
    });
    let lost = false;
    const lose = (error?: Error) => {
      if (lost) return;
      lost = true;
      if (client === fresh) client = undefined;
      fresh.end().catch(() => undefined);
      if (closed) return;
      log.warn({ err: error }, 'the LISTEN connection to PostgreSQL was lost; reconnecting');
      timer = setTimeout(connect, retry);
      retry = Math.min(retry * 2, LAST_RETRY_MS);
    };
    fresh.on('error', lose);
    fresh.on('end', () => lose());
    fresh.on('notification', ({ channel, payload }) => notify(channel, payload ?? ''));
    try {
      await fresh.connect();
      await fresh.query('select pg_advisory_lock_shared($1, $2)', [PROCESS_LOCKS, processNumber]);
      for (const channel of listeners.keys()) await listen(fresh, channel);
      if (closed) return await fresh.end();
      client = fresh;
      retry = FIRST_RETRY_MS;
      for (const channel of listeners.keys()) {
        // a channel added while connecting
        await listen(fresh, channel);
        notify(channel, '');
      }
    } catch (error) {
      lose(error as Error);
    }
  };
  void connect();

  return {
    processNumber,
    on(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      if (set.size === 1 && client) {
        listen(client, channel).then(
          () => notify(channel, ''),
          () => undefined,
        );
      }
      return () => void set.delete(listener);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
