import { EstateError } from '../../../platform/errors.ts';

/** Bounds of the event streams of one process. */
export const streamLimits = {
  /** Open streams of one user. */
  perUser: 8,
  /** Open streams of all users. */
  perProcess: 1_000,
  /** A stream with more unsent bytes than this gets no further live events; it is replayed once its reader has caught up. */
  unsentBytes: 256 * 1024,
  /** A reader that takes nothing for so long is disconnected, in milliseconds. */
  stallMs: 60_000,
  /** How long the last frame of a stream may take, in milliseconds. */
  endMs: 10_000,
  /** Pages of stored events that are read at once for all streams that are replayed. */
  replays: 2,
} as const;

/** Counts the open streams of a process. */
export interface StreamSlots {
  /**
   * Takes a slot for the user and returns the function that gives it back.
   * @throws EstateError `too_many_requests` or `unavailable`, both with `Retry-After`.
   */
  take(userId: string): () => void;
}

export function createStreamSlots({ perUser, perProcess } = streamLimits as StreamBounds): StreamSlots {
  const byUser = new Map<string, number>();
  let total = 0;
  return {
    take(userId) {
      const own = byUser.get(userId) ?? 0;
      if (own >= perUser) {
        throw new EstateError('too_many_requests', `A user has at most ${perUser} event streams open.`, {
          headers: { 'retry-after': '5' },
        });
      }
      if (total >= perProcess) {
        throw new EstateError('unavailable', 'This process serves as many event streams as it can.', {
          headers: { 'retry-after': '5' },
        });
      }
      byUser.set(userId, own + 1);
      total += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        total -= 1;
        const left = byUser.get(userId)! - 1;
        if (left === 0) byUser.delete(userId);
        else byUser.set(userId, left);
      };
    },
  };
}

interface StreamBounds {
  perUser: number;
  perProcess: number;
}
