import type { LimiterState } from './limiter.state.ts';
import type { Limiter } from './limiter.ts';

/** What the remote lets through of requests, and how many of these are left, as it last told. */
export interface Budget {
  limit: number;
  remaining: number;
  /** RFC 3339. */
  resets_at: string;
}

/** What is left by now; null where the remote does not tell. @param now milliseconds. */
export function budgetOf({ told }: LimiterState, now: number): Budget | null {
  return (
    told && {
      limit: told.limit,
      remaining: told.resetAt > now ? told.remaining : told.limit,
      resets_at: new Date(told.resetAt).toISOString(),
    }
  );
}

/** What an open connection has left; null where nothing is limited, or the remote does not tell. */
export async function budgetLeft({ limiter }: { limiter?: Limiter }): Promise<Budget | null> {
  return limiter ? budgetOf(await limiter.state(), Date.now()) : null;
}
