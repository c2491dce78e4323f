import { type Db, inTransaction, query, type Sql } from '../../../../platform/database.ts';
import { createSemaphore } from '../../../../platform/semaphore.ts';
import type { Clock } from '../remote.ts';

/** The state of one account's rate limiter: JSON that all workers share. */
export interface LimiterState {
  /** Current rate, requests per second. */
  rate: number;
  /** The rate at which the remote last rejected requests; null if it never did. */
  ceiling: number | null;
  /** When the next request may be sent. */
  nextAt: number;
  /** The remote requested a pause until this time. */
  pausedUntil: number;
  /** When the rate was last reduced, and raised. */
  cutAt: number;
  raisedAt: number;
  /** Number of responses in each of the last seconds, oldest first. */
  passed: { second: number; count: number }[];
  /** When a request last had to wait: the rate is only raised while requests wait. */
  pressedAt: number;
  /** The rate limit rule, as far as the headers of responses show it. */
  rule: { limit: number; remaining: number; resetAt: number; windowMs: number | null } | null;
  /** Consecutive outages; until when the circuit is open; how often it was opened in a row. */
  outages: number;
  openUntil: number;
  openings: number;
  /** The part of the usual page size that is requested, 1 to 1/32. */
  pageScale: number;
  /** Pages that were read in time since the last slow one. */
  goodPages: number;
}

/** The bounds of every limiter; rates are requests per second. */
export const limiterBounds = {
  startRate: 20,
  maxRate: 100,
  minRate: 0.2,
  /** Consecutive outages that open the circuit. */
  outages: 5,
  /** How long the circuit is open the first time; doubled each time, up to the maximum. */
  openMs: 15_000,
  maxOpenMs: 600_000,
};

/** The outcome of a request, as far as it concerns limits. */
type Outcome =
  | { kind: 'passed'; rate?: RateHeaders }
  | { kind: 'rate_limited'; retryAfterMs?: number; rate?: RateHeaders }
  | { kind: 'unavailable' }
  /** It timed out, or the response was incomplete: pages are too large. */
  | { kind: 'too_slow' };

/** Rate limit headers of a response; times by our own clock. */
export interface RateHeaders {
  limit: number;
  remaining: number;
  resetAt: number;
}

/** The used share of a known limit; the rest allows for different clocks. */
const LIMIT_SHARE = 0.97;
/** The share of the accepted rate that is used after a rejection, for how long, and the factor by which it is then raised. */
const REJECTION_SHARE = 0.955;
const STEADY_MS = 45_000;
const RAISE_FACTOR = 1.04;
/** How long an unused slot remains usable. */
const CREDIT_MS = 50;
/** Shorter delays are ignored: they are similar to the latency of requests. */
const MAX_DELAY_MS = 20;
/** A rejection within this time after a reduction was caused by the previous rate. */
const SETTLE_MS = 1_000;
const SMALLEST_SCALE = 1 / 32;
const PAGES_BEFORE_GROWTH = 10;

export const createLimiterState = (now: number): LimiterState => ({
  rate: limiterBounds.startRate,
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
function reserveSlot(state: LimiterState, now: number): { state: LimiterState; at: number } {
  const at = Math.max(now, state.nextAt, state.pausedUntil, state.openUntil);
  const nextAt = Math.max(state.nextAt, at - CREDIT_MS) + 1000 / state.rate;
  return { at, state: { ...state, nextAt, pressedAt: at > now ? now : state.pressedAt } };
}

/**
 * Whether a slot was used so late that the next window of the rule has started: that window has slots of its own, and one
 * request more would exceed the limit.
 */
function isSlotMissed({ rule }: LimiterState, at: number, now: number): boolean {
  const windowMs = rule?.windowMs ?? null;
  if (!rule || windowMs === null || now - at <= MAX_DELAY_MS) return false;
  const windowOf = (time: number) => Math.floor((time - rule.resetAt) / windowMs);
  return windowOf(now) !== windowOf(at);
}

/** The state after a request has ended. */
function applyOutcome(state: LimiterState, outcome: Outcome, now: number): LimiterState {
  switch (outcome.kind) {
    case 'unavailable':
      return afterOutage(state, now);
    case 'too_slow': {
      const pageScale = Math.max(SMALLEST_SCALE, state.pageScale / 2);
      return { ...afterOutage(state, now), pageScale, goodPages: 0 };
    }
    case 'rate_limited':
      return afterRejection(withRule(state, outcome.rate, now), outcome.retryAfterMs, now);
    case 'passed':
      return afterPass(withRule(state, outcome.rate, now), now);
  }
}

function afterOutage(before: LimiterState, now: number): LimiterState {
  // an outage that ended that long ago does not count
  const isPast = before.openUntil > 0 && now - before.openUntil > limiterBounds.maxOpenMs;
  const state = isPast ? { ...before, outages: 0, openings: 0, openUntil: 0 } : before;
  const outages = state.outages + 1;
  if (outages < limiterBounds.outages || state.openUntil > now) return { ...state, outages };
  const openMs = Math.min(limiterBounds.maxOpenMs, limiterBounds.openMs * 2 ** state.openings);
  // a single outage after the pause opens the circuit again
  const openings = state.openings + 1;
  return { ...state, outages: limiterBounds.outages - 1, openUntil: now + openMs, openings };
}

/** Responses per second over the last whole seconds. */
function passedRate(state: LimiterState, now: number): number {
  const second = Math.floor(now / 1000);
  const whole = state.passed.filter((one) => one.second < second && one.second >= second - 2);
  const current = state.passed.find((one) => one.second === second)?.count ?? 0;
  return Math.max(current, ...whole.map(({ count }) => count), 0);
}

function afterRejection(state: LimiterState, retryAfterMs: number | undefined, now: number): LimiterState {
  const pausedUntil = Math.max(state.pausedUntil, now + (retryAfterMs ?? 0));
  if (now - state.cutAt < SETTLE_MS) return { ...state, pausedUntil };
  // under a known rule a single rejection may be due to latency: only further ones reduce the rate
  const isFirst = now - state.cutAt >= STEADY_MS;
  if (isFirst && (state.rule?.windowMs ?? null) !== null) return { ...state, pausedUntil, cutAt: now };
  // the rate that was just accepted is the best estimate of the limit
  const ceiling = Math.max(
    limiterBounds.minRate,
    Math.min(state.rate, passedRate(state, now) || state.rate / 2),
  );
  const rate = Math.max(limiterBounds.minRate, ceiling * REJECTION_SHARE);
  const nextAt = Math.max(state.nextAt, now + 1000 / rate);
  return { ...state, ceiling, rate, cutAt: now, pausedUntil, nextAt };
}

function afterPass(state: LimiterState, now: number): LimiterState {
  const second = Math.floor(now / 1000);
  const last = state.passed.at(-1);
  const passed =
    last?.second === second
      ? [...state.passed.slice(0, -1), { second, count: last.count + 1 }]
      : [...state.passed.filter((one) => one.second >= second - 3), { second, count: 1 }];
  const accepted: LimiterState = { ...state, passed, outages: 0, openings: 0, ...grownPage(state) };
  const windowMs = accepted.rule?.windowMs ?? null;
  const hasWaiting = now - state.pressedAt < 1_000;
  // a known limit need not be explored
  if (windowMs !== null || !hasWaiting || now - state.raisedAt < 1_000) return accepted;
  if (state.ceiling === null) {
    return { ...accepted, rate: Math.min(limiterBounds.maxRate, state.rate * 2), raisedAt: now };
  }
  if (now - state.cutAt < STEADY_MS) return accepted;
  return { ...accepted, rate: Math.min(limiterBounds.maxRate, state.rate * RAISE_FACTOR), raisedAt: now };
}

function grownPage(state: LimiterState): Pick<LimiterState, 'pageScale' | 'goodPages'> {
  if (state.pageScale === 1) return { pageScale: 1, goodPages: 0 };
  if (state.goodPages + 1 < PAGES_BEFORE_GROWTH) {
    return { pageScale: state.pageScale, goodPages: state.goodPages + 1 };
  }
  return { pageScale: Math.min(1, state.pageScale * 2), goodPages: 0 };
}

/** Updates the rule from headers: the time between two resets is the length of a window. */
function withRule(state: LimiterState, headers: RateHeaders | undefined, now: number): LimiterState {
  if (!headers) return state;
  const before = state.rule;
  let windowMs = before?.windowMs ?? null;
  const moved = before ? headers.resetAt - before.resetAt : 0;
  // times are whole seconds: a window has at least one
  if (moved >= 900) windowMs = Math.min(windowMs ?? Number.POSITIVE_INFINITY, Math.max(1_000, moved));
  // responses may arrive out of order: those of an older window are ignored
  if (
    moved < -900 ||
    (moved < 900 && before && headers.limit === before.limit && headers.remaining > before.remaining)
  ) {
    return state;
  }
  let { rate, pausedUntil } = state;
  // a rejection despite the rule shows that other clients use the limit too: the reduced rate applies for a while
  const usesRule =
    now - state.cutAt >= STEADY_MS || headers.limit !== before?.limit || before.windowMs === null;
  if (windowMs !== null && usesRule) {
    rate = Math.min(
      limiterBounds.maxRate,
      Math.max(limiterBounds.minRate, (headers.limit / windowMs) * 1000 * LIMIT_SHARE),
    );
  }
  if (headers.remaining === 0 && headers.resetAt > now)
    pausedUntil = Math.max(pausedUntil, Math.min(headers.resetAt, now + 3_600_000));
  return { ...state, rate, pausedUntil, rule: { ...headers, windowMs } };
}

/** Stores the state of each remote account. */
export interface LimiterStore {
  /** The current state, without a lock. */
  read(account: string): Promise<LimiterState | undefined>;
  /** Reads and replaces a state atomically; `undefined` if there is none yet. */
  update<T>(
    account: string,
    change: (state: LimiterState | undefined) => { state: LimiterState; result: T },
  ): Promise<T>;
}

/** The remote's limit and the remaining requests, as last reported. */
export interface Budget {
  limit: number;
  remaining: number;
  /** RFC 3339. */
  resets_at: string;
}

/** The budget at a time in milliseconds; null if the remote does not report it. */
export function budgetAt({ rule }: LimiterState, now: number): Budget | null {
  if (!rule) return null;
  const remaining = rule.resetAt > now ? rule.remaining : rule.limit;
  return { limit: rule.limit, remaining, resets_at: new Date(rule.resetAt).toISOString() };
}

/** Whether the request has a slot and may be sent. */
type Acquisition =
  | { kind: 'acquired' }
  | { kind: 'wait_too_long'; ms: number; reason: 'rate_limited' | 'unavailable' };

/** Limits the request rate of one remote account, for all processes that share the store. */
export interface Limiter {
  /** Waits for the next slot, unless that takes longer than `maxWaitMs`. @throws the signal's reason. */
  acquire(maxWaitMs: number, signal?: AbortSignal): Promise<Acquisition>;
  recordOutcome(outcome: Outcome): Promise<void>;
  /** The number of rows to request instead of the usual number. */
  pageSize(usual: number): Promise<number>;
  state(): Promise<LimiterState>;
}

const SMALLEST_PAGE = 10;

export function createLimiter(
  account: string,
  { store, clock }: { store: LimiterStore; clock: Clock },
): Limiter {
  const update = <T>(change: (state: LimiterState) => { state: LimiterState; result: T }): Promise<T> =>
    store.update(account, (state) => change(state ?? createLimiterState(clock.now())));
  const state = async () => (await store.read(account)) ?? createLimiterState(clock.now());

  return {
    state,
    async acquire(maxWaitMs, signal) {
      const until = clock.now() + maxWaitMs;
      let hasMissed = false;
      for (;;) {
        const slot = await update((known): { state: LimiterState; result: Acquisition & { at: number } } => {
          const now = clock.now();
          const reserved = reserveSlot(known, now);
          // the slot is not reserved: other requests may wait longer
          if (reserved.at > until) {
            const reason =
              known.openUntil >= known.pausedUntil && known.openUntil > now ? 'unavailable' : 'rate_limited';
            return {
              state: known,
              result: { kind: 'wait_too_long', ms: reserved.at - now, reason, at: reserved.at },
            };
          }
          return { state: reserved.state, result: { kind: 'acquired', at: reserved.at } };
        });
        if (slot.kind !== 'acquired') return slot;
        await clock.sleep(slot.at - clock.now(), signal);
        // the remote may have requested a pause meanwhile, and a busy process wakes late
        const known = await state();
        const now = clock.now();
        if (known.pausedUntil > now || known.openUntil > now) continue;
        // only once: a process that is always late would never send
        if (hasMissed || !isSlotMissed(known, slot.at, now)) return { kind: 'acquired' };
        hasMissed = true;
      }
    },
    recordOutcome: (outcome) =>
      update((known) => ({ state: applyOutcome(known, outcome, clock.now()), result: undefined })),
    async pageSize(usual) {
      const { pageScale } = await state();
      return Math.max(Math.min(usual, SMALLEST_PAGE), Math.floor(usual * pageScale));
    },
  };
}

/** The budget of an account; null if the remote does not report it. */
export const readBudget = async (limiter: Limiter): Promise<Budget | null> =>
  budgetAt(await limiter.state(), Date.now());

/**
 * Stores states in the database: all processes share one rate for an account. Updates run one after the other, so that those that
 * wait for the lock of the row occupy one database connection.
 */
export function databaseLimiterStore(db: Db): LimiterStore {
  const inTurn = createSemaphore(1);
  return {
    async read(account) {
      return (await db('itsm_account_limits').where({ account }).first('state'))?.state ?? undefined;
    },
    update: (account, change) => inTurn(() => inTransaction(db, (sql) => updateState(sql, account, change))),
  };
}

async function updateState<T>(
  sql: Sql,
  account: string,
  change: (state: LimiterState | undefined) => { state: LimiterState; result: T },
): Promise<T> {
  // after a crash a lost state is learned again
  const lock = () =>
    query(sql).row<{ state: LimiterState | null }>`select state, set_config('synchronous_commit', 'off', true)
       from itsm_account_limits where account = ${account} for update`;
  let row = await lock();
  if (!row) {
    await query(sql)
      .run`insert into itsm_account_limits (account) values (${account}) on conflict do nothing`;
    row = await lock();
  }
  const before = row?.state ?? undefined;
  const { state, result } = change(before);
  if (state !== before) {
    await query(sql)
      .run`update itsm_account_limits set state = ${JSON.stringify(state)} where account = ${account}`;
  }
  return result;
}
