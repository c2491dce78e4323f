import { EstateError } from '../../../platform/errors.ts';
import { createUsage } from '../../../platform/usage.ts';

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

interface StreamBounds {
  perUser: number;
  perProcess: number;
}

/**
 * Counts the open streams of a process. `take` takes a slot for a user and returns the function that releases it; it throws
 * EstateError `too_many_requests` or `unavailable`, both with `Retry-After`.
 */
export function createStreamSlots({ perUser, perProcess }: StreamBounds = streamLimits) {
  const open = createUsage();
  const refusal = (code: 'too_many_requests' | 'unavailable', message: string) =>
    new EstateError(code, message, { headers: { 'retry-after': '5' } });
  return {
    take(userId: string): () => void {
      if (open.of(userId) >= perUser) {
        throw refusal('too_many_requests', `A user can have at most ${perUser} open event streams.`);
      }
      if (open.total() >= perProcess) {
        throw refusal('unavailable', 'This process has reached its limit of event streams.');
      }
      return open.take(userId);
    },
  };
}
