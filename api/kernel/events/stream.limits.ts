import { EstateError } from '../../../platform/errors.ts';

/** Limits of the event streams of one process. */
export const streamLimits = {
  /** Open streams of one user. */
  perUser: 8,
  /** Open streams of all users. */
  perProcess: 1_000,
  /** Unsent bytes above which a stream gets no live events; once its client has caught up it continues from stored events. */
  unsentBytes: 256 * 1024,
  /** Time after which a client that reads nothing is disconnected, in milliseconds. */
  stallMs: 60_000,
  /** Time to send the last frame of a stream, in milliseconds. */
  endMs: 10_000,
  /** Maximum number of pages of stored events that are read concurrently. */
  replays: 2,
} as const;

/** Counts the open streams of a process. */
export interface StreamSlots {
  /**
   * Takes a slot for the user and returns the function that releases it.
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
        throw new EstateError('too_many_requests', `A user can have at most ${perUser} open event streams.`, {
          headers: { 'retry-after': '5' },
        });
      }
      if (total >= perProcess) {
        throw new EstateError('unavailable', 'This process has reached its limit of event streams.', {
          headers: { 'retry-after': '5' },
        });
      }
      byUser.set(userId, own + 1);
      total += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
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
