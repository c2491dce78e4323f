import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';

export interface RateRule {
  /** Requests that a window allows; undefined allows all. */
  limit: number | undefined;
  windowMs: number;
  /** Whether a refusal says when to come again. */
  retryAfter: boolean;
  /** Whether answers have headers about the rule. */
  headers: boolean;
}

export type RateVerdict = { allowed: boolean; headers: Record<string, string> };

/** Counts requests per user in windows that begin at whole multiples of their length, as the hourly rules do. */
export class RateRules {
  rule: RateRule = { limit: undefined, windowMs: 1_000, retryAfter: true, headers: true };
  readonly #clock: Clock;
  readonly #skew: () => number;
  readonly #windows = new Map<string, { start: number; count: number }>();

  constructor(clock: Clock, skew: () => number) {
    this.#clock = clock;
    this.#skew = skew;
  }

  take(user: string): RateVerdict {
    const { limit, windowMs, retryAfter, headers } = this.rule;
    if (limit === undefined) return { allowed: true, headers: {} };
    const now = this.#clock.now();
    const start = Math.floor(now / windowMs) * windowMs;
    let window = this.#windows.get(user);
    if (window?.start !== start) {
      window = { start, count: 0 };
      this.#windows.set(user, window);
    }
    window.count += 1;
    const allowed = window.count <= limit;
    const reset = start + windowMs;
    const own: Record<string, string> = headers
      ? {
          'x-ratelimit-limit': String(limit),
          'x-ratelimit-remaining': String(Math.max(0, limit - window.count)),
          'x-ratelimit-reset': String(Math.ceil((reset + this.#skew()) / 1000)),
          'x-ratelimit-rule': 'f00dfeedf00dfeedf00dfeedf00dfeed',
        }
      : {};
    const wait: Record<string, string> = retryAfter
      ? { 'retry-after': String(Math.max(1, Math.ceil((reset - now) / 1000))) }
      : {};
    return { allowed, headers: { ...own, ...(allowed ? {} : wait) } };
  }
}
