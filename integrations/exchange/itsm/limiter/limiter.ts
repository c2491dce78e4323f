import { type Db, inTransaction, type Sql } from '../../../../platform/database.ts';
import { createSemaphore } from '../../../../platform/semaphore.ts';
import type { Clock } from '../remote.ts';
import {
  applyOutcome,
  type Budget,
  budgetAt,
  createLimiterState,
  isSlotMissed,
  type LimiterState,
  type LimiterStore,
  type Outcome,
  reserveSlot,
} from './limiter.state.ts';

/** Whether the request has a slot and may be sent. */
type Acquisition = { kind: 'acquired' } | { kind: 'wait_too_long'; ms: number; reason: 'limited' | 'outage' };

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
              known.openUntil >= known.pausedUntil && known.openUntil > now ? 'outage' : 'limited';
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
        const isPaused = known.pausedUntil > now || known.openUntil > now;
        if (isPaused) continue;
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

/** The budget of an open connection; null if it has no limiter, or the remote does not report it. */
export async function readBudget({ limiter }: { limiter?: Limiter }): Promise<Budget | null> {
  return limiter ? budgetAt(await limiter.state(), Date.now()) : null;
}

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
  const lock = async (): Promise<{ state: LimiterState | null } | undefined> =>
    (
      await sql.raw(
        `select state, set_config('synchronous_commit', 'off', true) from itsm_account_limits
         where account = ? for update`,
        [account],
      )
    ).rows[0];
  let row = await lock();
  if (!row) {
    await sql.raw('insert into itsm_account_limits (account) values (?) on conflict do nothing', [account]);
    row = await lock();
  }
  const before = row?.state ?? undefined;
  const { state, result } = change(before);
  if (state !== before) {
    await sql.raw('update itsm_account_limits set state = ? where account = ?', [
      JSON.stringify(state),
      account,
    ]);
  }
  return result;
}
