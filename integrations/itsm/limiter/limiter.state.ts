/** What is known of one remote account's limits; plain data, so that it can be kept where all workers see it. */
export interface LimiterState {
  /** Requests a second that are sent now. */
  rate: number;
  /** The rate at which the remote last refused, if it ever did. */
  ceiling: number | null;
  /** When the next request may go. */
  nextAt: number;
  /** Nothing goes before this moment, since the remote asked for it. */
  pausedUntil: number;
  cutAt: number;
  raisedAt: number;
  /** Answers by whole second of the last few, oldest first. */
  passed: { second: number; count: number }[];
  /** When a request last had to wait for its turn: a rate that nobody waits for is not raised. */
  pressedAt: number;
  /** What the remote tells of its rule. */
  told: { limit: number; remaining: number; resetAt: number; windowMs: number | null } | null;
  /** Outages in a row, and until when nothing is tried because of them. */
  outages: number;
  openUntil: number;
  openings: number;
  /** Which part of the usual page is asked for, 1 to 1/32. */
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

/** What became of a request, as far as limits are concerned. */
export type Outcome =
  | { kind: 'passed'; told?: RateHeaders }
  | { kind: 'limited'; retryAfterMs?: number; told?: RateHeaders }
  | { kind: 'outage' }
  /** It took too long, or the remote gave up in the middle: pages are too big. */
  | { kind: 'too_slow' };

/** What an answer says of the rule that it fell under; times by our own clock. */
export interface RateHeaders {
  limit: number;
  remaining: number;
  resetAt: number;
}

/** Of what the remote is known to let through, so much is used: the rest is for clocks that do not agree. */
const SHARE = 0.97;
/** After a refusal, so much of what passed is tried on, and for how long before more is tried again. */
const AFTER_REFUSAL = 0.955;
const HOLD_MS = 45_000;
const STEP = 1.04;
/** A turn that nobody was in time for is made good, if it is no older. */
const CREDIT_MS = 50;
/** Being so late is nothing: requests are on their way for as long. */
const LATE_MS = 20;
/** A refusal so soon after a cut was already under way then. */
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
  told: null,
  outages: 0,
  openUntil: 0,
  openings: 0,
  pageScale: 1,
  goodPages: 0,
});

/** Reserves the next turn. @returns the moment it comes. */
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
 * Whether a turn was taken so late that another window of the remote's rule has begun: that has its own requests already, and
 * one more would be one too many.
 */
export function isMissed({ told }: LimiterState, at: number, now: number): boolean {
  const windowMs = told?.windowMs ?? null;
  if (told === null || windowMs === null || now - at <= LATE_MS) return false;
  const windowOf = (moment: number) => Math.floor((moment - told.resetAt) / windowMs);
  return windowOf(now) !== windowOf(at);
}

/** What is known after a request has ended. */
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
      return afterRefusal(hear(state, outcome.told, now, bounds), outcome.retryAfterMs, now, bounds);
    case 'passed':
      return afterPass(hear(state, outcome.told, now, bounds), now, bounds);
  }
}

function afterOutage(before: LimiterState, now: number, bounds: LimiterBounds): LimiterState {
  // an outage that ended so long ago says nothing of this one
  const isPast = before.openUntil > 0 && now - before.openUntil > bounds.longestOpenMs;
  const state = isPast ? { ...before, outages: 0, openings: 0, openUntil: 0 } : before;
  const outages = state.outages + 1;
  if (outages < bounds.outages || state.openUntil > now) return { ...state, outages };
  const openMs = Math.min(bounds.longestOpenMs, bounds.openMs * 2 ** state.openings);
  // one more outage after the pause opens it again at once
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
  // within a rule that is told, a single refusal is a matter of requests that were long on their way: others bear it out
  const isFirst = now - state.cutAt >= HOLD_MS;
  if (isFirst && (state.told?.windowMs ?? null) !== null) return { ...state, pausedUntil, cutAt: now };
  // what has just passed is the best guess at what is let through; never more than was sent
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
  const known = calm.told?.windowMs ?? null;
  const pressed = now - state.pressedAt < 1_000;
  // what the remote tells of its rule needs no trying out
  if (known !== null || !pressed || now - state.raisedAt < 1_000) return calm;
  if (state.ceiling === null) {
    return { ...calm, rate: Math.min(bounds.maxRate, state.rate * 2), raisedAt: now };
  }
  if (now - state.cutAt < HOLD_MS) return calm;
  return { ...calm, rate: Math.min(bounds.maxRate, state.rate * STEP), raisedAt: now };
}

function grownPage(state: LimiterState): Pick<LimiterState, 'pageScale' | 'goodPages'> {
  if (state.pageScale === 1) return { pageScale: 1, goodPages: 0 };
  if (state.goodPages + 1 < PAGES_BEFORE_GROWTH) {
    return { pageScale: state.pageScale, goodPages: state.goodPages + 1 };
  }
  return { pageScale: Math.min(1, state.pageScale * 2), goodPages: 0 };
}

/** Takes in what an answer says of its rule: the length of a window shows when the next one begins. */
function hear(
  state: LimiterState,
  told: RateHeaders | undefined,
  now: number,
  bounds: LimiterBounds,
): LimiterState {
  if (!told) return state;
  const before = state.told;
  let windowMs = before?.windowMs ?? null;
  const moved = before ? told.resetAt - before.resetAt : 0;
  // the times are whole seconds: a window is at least one
  if (moved >= 900) windowMs = Math.min(windowMs ?? Number.POSITIVE_INFINITY, Math.max(1_000, moved));
  // answers may overtake each other: an older window says nothing new
  if (
    moved < -900 ||
    (moved < 900 && before && told.limit === before.limit && told.remaining > before.remaining)
  ) {
    return state;
  }
  let { rate, pausedUntil } = state;
  // a refusal in spite of the rule shows that others use it up too: for a while that counts for more
  const believed = now - state.cutAt >= HOLD_MS || told.limit !== before?.limit || before.windowMs === null;
  if (windowMs !== null && believed) {
    rate = Math.min(bounds.maxRate, Math.max(bounds.minRate, (told.limit / windowMs) * 1000 * SHARE));
  }
  if (told.remaining === 0 && told.resetAt > now)
    pausedUntil = Math.max(pausedUntil, Math.min(told.resetAt, now + 3_600_000));
  return { ...state, rate, pausedUntil, told: { ...told, windowMs } };
}
