import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionLoss } from './database.ts';
import type { Logger } from './logging.ts';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * Does work that may be repeated as a whole, again and again while the connection to the database is lost.
 * @param isFinal whether an error that says so is thrown nevertheless.
 * @throws whatever else `work` throws.
 */
export async function throughOutages<T>(
  log: Logger,
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let retry = FIRST_RETRY_MS; ; retry = Math.min(retry * 2, LAST_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionLoss(error) || isFinal(error)) throw error;
      log.warn({ err: error }, 'the connection to the database was lost during the start; trying again');
      await delay(retry);
    }
  }
}
