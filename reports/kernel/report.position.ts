import { feedEnds } from '../../domain/kernel/events/changes.ts';
import type { Db } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Signals } from '../../platform/signals.ts';

/** How long a request waits for what it has to see. */
const WAIT_MS = 5_000;

/**
 * Waits until the database that is read holds a position of the change feed, so that a client sees its own write
 * whichever process answers it.
 * @throws EstateError `position_ahead` when it is not there in time.
 */
export async function reachPosition(
  db: Db,
  signals: Signals,
  position: number,
  waitMs = WAIT_MS,
): Promise<void> {
  const behind = async () => (await feedEnds(db)).newest < position;
  if (!(await behind())) return;
  const end = AbortSignal.timeout(waitMs);
  for (;;) {
    // listening begins before looking, so that nothing that comes in between is missed
    const news = Promise.withResolvers<void>();
    const stop = () => news.resolve();
    const off = signals.on('estate_feed', stop);
    end.addEventListener('abort', stop, { once: true });
    try {
      if (!(await behind())) return;
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
