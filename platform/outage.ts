import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionLoss } from './database.ts';
import { diskFull, isFull } from './embedded-postgres/surroundings.ts';
import { isStorageFull } from './errors.ts';
import type { Logger } from './logging.ts';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Does work that can be repeated completely, and retries it while the database is unavailable.
 * @param isFinal whether an error that indicates an outage is thrown nevertheless.
 * @throws whatever else `work` throws.
 */
export async function retryDuringOutages<T>(
  log: Logger,
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean | Promise<boolean> = () => false,
): Promise<T> {
  for (let retry = FIRST_RETRY_MS; ; retry = Math.min(retry * 2, LAST_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionLoss(error) || (await isFinal(error))) throw error;
      log.warn({ err: error }, 'the database connection was lost at startup; retrying');
      await delay(retry);
    }
  }
}

/**
 * Executes a step of the startup, and retries it during outages if it can be repeated completely.
 * @param disk the folder of the embedded PostgreSQL, which stops when it cannot write; undefined for another server.
 * @throws the error of a full disk that names the folder; whatever else `work` throws.
 */
export async function startStep<T>(
  { log, disk, isDiskFull = isFull }: StartPlace,
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const isFullNow = async () => disk !== undefined && (await isDiskFull(disk).catch(() => false));
  try {
    return await retryDuringOutages(log, work, async (error) => isFinal(error) || (await isFullNow()));
  } catch (error) {
    const full = isStorageFull(error) || (isConnectionLoss(error) && (await isFullNow()));
    throw disk !== undefined && full ? diskFull(disk) : error;
  }
}

/** Where a process starts. */
interface StartPlace {
  log: Logger;
  disk: string | undefined;
  /** Whether the disk of a folder has no room left. */
  isDiskFull?: (folder: string) => Promise<boolean>;
}
