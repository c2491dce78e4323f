import { feedEnds } from '../../domain/kernel/events/changes.ts';
import type { Db } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Signals } from '../../platform/signals.ts';

/** Maximum time that a request waits for the position. */
const WAIT_MS = 5_000;

/**
 * Waits until the database has reached a position of the change feed, so that a client reads its own writes from any
 * process.
 * @throws EstateError `position_ahead` on timeout.
 */
export async function waitForPosition(
  db: Db,
  signals: Signals,
  position: number,
  waitMs = WAIT_MS,
): Promise<void> {
  const isBehind = async () => (await feedEnds(db)).newest < position;
  if (!(await isBehind())) return;
  const end = AbortSignal.timeout(waitMs);
  for (;;) {
    // listen before the first check, so that no notification is missed
    const news = Promise.withResolvers<void>();
    const stop = () => news.resolve();
    const off = signals.on('estate_feed', stop);
    end.addEventListener('abort', stop, { once: true });
    try {
      if (!(await isBehind())) return;
      if (end.aborted) {
        throw new EstateError('position_ahead', `The change feed has not reached position ${position}.`, {
          extra: { newest: String((await feedEnds(db)).newest) },
        });
      }
      await news.promise;
    } finally {
      off();
      end.removeEventListener('abort', stop);
    }
  }
}
