/** What is known about one remote account's limits: plain data that all workers share. */
export interface LimiterState {
  /** Requests a second that are sent now. */
  rate: number;
  /** The rate at which the remote last refused, if it ever did. */
  ceiling: number | null;
  /** When the next request may be sent. */
  nextAt: number;
  /** The remote asked for no request before this time. */
  pausedUntil: number;
  cutAt: number;
  raisedAt: number;
  /** Answers by whole second of the last few, oldest first. */
  passed: { second: number; count: number }[];
  /** When a request last had to wait: a rate is only raised if requests wait for it. */
  pressedAt: number;
  /** The rate limit rule, as far as the headers of responses show it. */
  rule: { limit: number; remaining: number; resetAt: number; windowMs: number | null } | null;
  /** Outages in a row, and until when the circuit is open because of them. */
  outages: number;
  openUntil: number;
  openings: number;
  /** The part of the usual page size that is requested, 1 to 1/32. */
  pageScale: number;
  /** Pages read in time since the last that was not. */
  goodPages: number;
}

/** The bounds of a limiter; rates are requests a second. */
export interface LimiterBounds {
  startRate: number;
  maxRate: number;
  minRate: number;
  /** Outages in a row that open the circuit. */
  outages: number;
  /** How long an open circuit stays so at first; doubled each time up to the longest. */
  openMs: number;
  longestOpenMs: number;
}

export const usualBounds: LimiterBounds = {
  startRate: 20,
  maxRate: 100,
  minRate: 0.2,
  outages: 5,
  openMs: 15_000,
  longestOpenMs: 600_000,
};

/** The outcome of a request, as far as it concerns limits. */
export type Outcome =
  | { kind: 'passed'; rate?: RateHeaders }
  | { kind: 'limited'; retryAfterMs?: number; rate?: RateHeaders }
  | { kind: 'outage' }
  /** It timed out, or the response was incomplete: pages are too large. */
  | { kind: 'too_slow' };

/** Rate limit headers of a response; times by our own clock. */
export interface RateHeaders {
  limit: number;
  remaining: number;
  resetAt: number;
}

/** The used share of a known limit: the rest allows for differing clocks. */
const SHARE = 0.97;
/** The share of the passed rate that is used after a refusal, and for how long before it is raised again. */
const AFTER_REFUSAL = 0.955;
const STEADY_MS = 45_000;
const STEP = 1.04;
/** An unused slot can be used for this long. */
const CREDIT_MS = 50;
/** Delays up to this are ignored: requests take as long to arrive. */
const LATE_MS = 20;
/** A refusal so soon after the rate was reduced belongs to the previous rate. */
const SETTLE_MS = 1_000;
const SMALLEST_PAGE = 1 / 32;
const PAGES_BEFORE_GROWTH = 10;

export const freshState = (now: number, bounds: LimiterBounds): LimiterState => ({
  rate: bounds.startRate,
  ceiling: null,
  nextAt: now,
  pausedUntil: 0,
  cutAt: 0,
  raisedAt: now,
  passed: [],
  pressedAt: 0,
  rule: null,
  outages: 0,
  openUntil: 0,
  openings: 0,
  pageScale: 1,
  goodPages: 0,
});

/** Reserves the next slot. @returns its time. */
export function reserve(state: LimiterState, now: number): { state: LimiterState; at: number } {
  const at = Math.max(now, state.nextAt, state.pausedUntil, state.openUntil);
  return {
    at,
    state: {
      ...state,
      nextAt: Math.max(state.nextAt, at - CREDIT_MS) + 1000 / state.rate,
      pressedAt: at > now ? now : state.pressedAt,
    },
  };
}

/**
 * Whether a slot was used so late that the next window of the rule has started: that window has slots of its own, and one
 * request more would exceed the limit.
 */
export function isMissed({ rule }: LimiterState, at: number, now: number): boolean {
  const windowMs = rule?.windowMs ?? null;
  if (!rule || windowMs === null || now - at <= LATE_MS) return false;
  const windowOf = (time: number) => Math.floor((time - rule.resetAt) / windowMs);
  return windowOf(now) !== windowOf(at);
}

/** The state after a request has ended. */
export function learn(
  state: LimiterState,
  outcome: Outcome,
  now: number,
  bounds: LimiterBounds,
): LimiterState {
  switch (outcome.kind) {
    case 'outage':
      return afterOutage(state, now, bounds);
    case 'too_slow':
      return {
        ...afterOutage(state, now, bounds),
        pageScale: Math.max(SMALLEST_PAGE, state.pageScale / 2),
        goodPages: 0,
      };
    case 'limited':
      return afterRefusal(withRule(state, outcome.rate, now, bounds), outcome.retryAfterMs, now, bounds);
    case 'passed':
      return afterPass(withRule(state, outcome.rate, now, bounds), now, bounds);
  }
}

function afterOutage(before: LimiterState, now: number, bounds: LimiterBounds): LimiterState {
  // an outage that ended so long ago does not count
  const isPast = before.openUntil > 0 && now - before.openUntil > bounds.longestOpenMs;
  const state = isPast ? { ...before, outages: 0, openings: 0, openUntil: 0 } : before;
  const outages = state.outages + 1;
  if (outages < bounds.outages || state.openUntil > now) return { ...state, outages };
  const openMs = Math.min(bounds.longestOpenMs, bounds.openMs * 2 ** state.openings);
  // one more outage after the pause opens the circuit again at once
  return { ...state, outages: bounds.outages - 1, openUntil: now + openMs, openings: state.openings + 1 };
}

/** Answers per second over the last whole seconds. */
function passedRate(state: LimiterState, now: number): number {
  const second = Math.floor(now / 1000);
  const whole = state.passed.filter((one) => one.second < second && one.second >= second - 2);
  const current = state.passed.find((one) => one.second === second)?.count ?? 0;
  return Math.max(current, ...whole.map(({ count }) => count), 0);
}

function afterRefusal(
  state: LimiterState,
  retryAfterMs: number | undefined,
  now: number,
  bounds: LimiterBounds,
): LimiterState {
  const pausedUntil = Math.max(state.pausedUntil, now + (retryAfterMs ?? 0));
  if (now - state.cutAt < SETTLE_MS) return { ...state, pausedUntil };
  // under a known rule a single refusal is due to requests with long latency: only further ones count
  const isFirst = now - state.cutAt >= STEADY_MS;
  if (isFirst && (state.rule?.windowMs ?? null) !== null) return { ...state, pausedUntil, cutAt: now };
  // the rate that just passed is the best estimate of the limit; never more than was sent
  const ceiling = Math.max(bounds.minRate, Math.min(state.rate, passedRate(state, now) || state.rate / 2));
  const rate = Math.max(bounds.minRate, ceiling * AFTER_REFUSAL);
  return {
    ...state,
    ceiling,
    rate,
    cutAt: now,
    pausedUntil,
    nextAt: Math.max(state.nextAt, now + 1000 / rate),
  };
}

function afterPass(state: LimiterState, now: number, bounds: LimiterBounds): LimiterState {
  const second = Math.floor(now / 1000);
  const last = state.passed.at(-1);
  const passed =
    last?.second === second
      ? [...state.passed.slice(0, -1), { second, count: last.count + 1 }]
      : [...state.passed.filter((one) => one.second >= second - 3), { second, count: 1 }];
  const calm: LimiterState = { ...state, passed, outages: 0, openings: 0, ...grownPage(state) };
  const known = calm.rule?.windowMs ?? null;
  const pressed = now - state.pressedAt < 1_000;
  // a known rule needs no probing
  if (known !== null || !pressed || now - state.raisedAt < 1_000) return calm;
  if (state.ceiling === null) {
    return { ...calm, rate: Math.min(bounds.maxRate, state.rate * 2), raisedAt: now };
  }
  if (now - state.cutAt < STEADY_MS) return calm;
  return { ...calm, rate: Math.min(bounds.maxRate, state.rate * STEP), raisedAt: now };
}

function grownPage(state: LimiterState): Pick<LimiterState, 'pageScale' | 'goodPages'> {
  if (state.pageScale === 1) return { pageScale: 1, goodPages: 0 };
  if (state.goodPages + 1 < PAGES_BEFORE_GROWTH) {
    return { pageScale: state.pageScale, goodPages: state.goodPages + 1 };
  }
  return { pageScale: Math.min(1, state.pageScale * 2), goodPages: 0 };
}

/** The state with the rule that headers show: the start of the next window shows the length of one. */
function withRule(
  state: LimiterState,
  headers: RateHeaders | undefined,
  now: number,
  bounds: LimiterBounds,
): LimiterState {
  if (!headers) return state;
  const before = state.rule;
  let windowMs = before?.windowMs ?? null;
  const moved = before ? headers.resetAt - before.resetAt : 0;
  // times are whole seconds: a window has at least one
  if (moved >= 900) windowMs = Math.min(windowMs ?? Number.POSITIVE_INFINITY, Math.max(1_000, moved));
  // responses may overtake each other: an older window is ignored
  if (
    moved < -900 ||
    (moved < 900 && before && headers.limit === before.limit && headers.remaining > before.remaining)
  ) {
    return state;
  }
  let { rate, pausedUntil } = state;
  // a refusal despite the rule shows that others use the limit too: for a while the reduced rate counts
  const believed =
    now - state.cutAt >= STEADY_MS || headers.limit !== before?.limit || before.windowMs === null;
  if (windowMs !== null && believed) {
    rate = Math.min(bounds.maxRate, Math.max(bounds.minRate, (headers.limit / windowMs) * 1000 * SHARE));
  }
  if (headers.remaining === 0 && headers.resetAt > now)
    pausedUntil = Math.max(pausedUntil, Math.min(headers.resetAt, now + 3_600_000));
  return { ...state, rate, pausedUntil, rule: { ...headers, windowMs } };
}

/** Stores the state of each remote account. */
export interface LimiterStore {
  /** The present state, without waiting for a lock. */
  look(account: string): Promise<LimiterState | undefined>;
  /** Reads and replaces a state atomically; `undefined` if there is none yet. */
  change<T>(
    account: string,
    step: (state: LimiterState | undefined) => { state: LimiterState; result: T },
  ): Promise<T>;
}

/** The remote's limit, and how many requests are left, as it last reported. */
export interface Budget {
  limit: number;
  remaining: number;
  /** RFC 3339. */
  resets_at: string;
}

/** The budget at a time in milliseconds; null if the remote does not report it. */
export function budgetOf({ rule }: LimiterState, now: number): Budget | null {
  if (!rule) return null;
  return {
    limit: rule.limit,
    remaining: rule.resetAt > now ? rule.remaining : rule.limit,
    resets_at: new Date(rule.resetAt).toISOString(),
  };
}
