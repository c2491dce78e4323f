import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isStorageFull } from '../errors.ts';
import type { Logger } from '../logging.ts';
import { isFull } from './surroundings.ts';

/** Watches over a server as long as it is used. */
export interface Keeper {
  close(): Promise<void>;
}

export interface KeeperOptions {
  url: string;
  /** The data folder. */
  dataDir: string;
  log: Logger;
  /** Starts the server where it has ended; called again until it succeeds. */
  bringBack(): Promise<void>;
  /** Whether the disk of a folder has no room left. */
  isDiskFull?: (folder: string) => Promise<boolean>;
  /** The first wait before the server is brought back again; doubled up to the longest. In milliseconds. */
  pace?: { firstMs: number; longestMs: number; settledMs: number };
}

/** A server that has run for `settledMs` has recovered: its next end is waited for anew. */
const PACE = { firstMs: 500, longestMs: 15_000, settledMs: 60_000 };

/**
 * Holds a connection to the server, and has the server brought back when the connection breaks, since nobody else
 * looks after a server whose main process was killed. A server that ends again and again, as it does on a full disk, is
 * brought back ever more slowly.
 */
export function keepServer(options: KeeperOptions): Keeper {
  const { url, dataDir, log, bringBack, isDiskFull = isFull, pace = PACE } = options;
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
  let toldFull = false;
  const tellFull = async (error?: unknown) => {
    const full = isStorageFull(error) || (await isDiskFull(dataDir).catch(() => false));
    if (full && !toldFull) {
      log.error(
        `The disk that holds ${dataDir} is full: free some space. PostgreSQL is started again until it can write.`,
      );
    }
    toldFull = full;
    return full;
  };
  const keep = async () => {
    let wait = 0;
    let broken = false;
    let begun = 0;
    while (!closing.signal.aborted) {
      try {
        if (broken) await bringBack();
        begun = Date.now();
        await hold();
        if (!closing.signal.aborted && !(await tellFull())) {
          log.warn('the connection to PostgreSQL broke; looking after the server');
        }
        // the first end is mended at once
        wait = !broken || Date.now() - begun >= pace.settledMs ? 0 : nextWait(wait, pace);
      } catch (error) {
        if (!(await tellFull(error))) log.error({ err: error }, 'PostgreSQL could not be brought back yet');
        wait = nextWait(wait, pace);
      }
      broken = true;
      await pause(wait, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
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

const nextWait = (wait: number, { firstMs, longestMs }: typeof PACE) =>
  Math.min(longestMs, Math.max(firstMs, wait * 2));
