import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../logging.ts';

/** Watches over a server as long as it is used. */
export interface Keeper {
  close(): Promise<void>;
}

const RETRY_MS = 500;

/**
 * Holds a connection to the server, and has the server brought back when the connection breaks, since nobody else
 * looks after a server whose main process was killed.
 * @param bringBack starts the server where it has ended; called again until it succeeds.
 */
export function keepServer(options: { url: string; log: Logger; bringBack(): Promise<void> }): Keeper {
  const { url, log, bringBack } = options;
  const closing = new AbortController();
  let client: pg.Client | undefined;

  /** Resolves when the connection has ended. */
  const hold = async () => {
    client = new pg.Client({ connectionString: url, application_name: 'estate keeper', keepAlive: true });
    const ended = new Promise<void>((resolve) => client!.once('end', resolve));
    client.on('error', () => undefined);
    await client.connect();
    if (closing.signal.aborted) await client.end();
    return ended;
  };
  const keep = async () => {
    let broken = false;
    while (!closing.signal.aborted) {
      try {
        if (broken) await bringBack();
        await hold();
        if (!closing.signal.aborted) log.warn('the connection to PostgreSQL broke; looking after the server');
      } catch (error) {
        log.error({ err: error }, 'PostgreSQL could not be brought back yet');
        await pause(RETRY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
      broken = true;
    }
  };
  const kept = keep();
  return {
    async close() {
      closing.abort();
      await client?.end().catch(() => undefined);
      await kept;
    },
  };
}
