import { type Db, inTransaction, type Sql } from '../../../platform/database.ts';
import type { Clock } from '../remote.ts';
import {
  type Budget,
  budgetOf,
  freshState,
  isMissed,
  type LimiterBounds,
  type LimiterState,
  type LimiterStore,
  learn,
  type Outcome,
  reserve,
  usualBounds,
} from './limiter.state.ts';

/** Whether a request may be sent. */
type Turn = { kind: 'go' } | { kind: 'wait_too_long'; ms: number; because: 'limited' | 'outage' };

/** Limits the request rate of one remote account, for all processes that share the store. */
export interface Limiter {
  /** Waits for the next slot, unless that takes longer than `longestMs`. @throws the signal's reason. */
  turn(longestMs: number, signal?: AbortSignal): Promise<Turn>;
  learn(outcome: Outcome): Promise<void>;
  /** How many rows to request where this many are usual. */
  pageSize(usual: number): Promise<number>;
  state(): Promise<LimiterState>;
}

const SMALLEST_PAGE = 10;

export function createLimiter(
  account: string,
  { store, clock, bounds = usualBounds }: { store: LimiterStore; clock: Clock; bounds?: LimiterBounds },
): Limiter {
  const change = <T>(step: (state: LimiterState) => { state: LimiterState; result: T }): Promise<T> =>
    store.change(account, (state) => step(state ?? freshState(clock.now(), bounds)));
  const state = async () => (await store.look(account)) ?? freshState(clock.now(), bounds);

  return {
    state,
    async turn(longestMs, signal) {
      const until = clock.now() + longestMs;
      let misses = 0;
      for (;;) {
        const turn = await change((known): { state: LimiterState; result: Turn & { at: number } } => {
          const now = clock.now();
          const reserved = reserve(known, now);
          // a slot too far away is left to others
          if (reserved.at > until) {
            const because =
              known.openUntil >= known.pausedUntil && known.openUntil > now ? 'outage' : 'limited';
            return {
              state: known,
              result: { kind: 'wait_too_long', ms: reserved.at - now, because, at: reserved.at },
            };
          }
          return { state: reserved.state, result: { kind: 'go', at: reserved.at } };
        });
        if (turn.kind !== 'go') return turn;
        await clock.sleep(turn.at - clock.now(), signal);
        // the remote may have asked for a pause meanwhile, and a busy process wakes late
        const known = await state();
        const now = clock.now();
        const isPaused = known.pausedUntil > now || known.openUntil > now;
        if (isPaused) continue;
        // once only: a process that is always late would never send
        if (misses > 0 || !isMissed(known, turn.at, now)) return { kind: 'go' };
        misses += 1;
      }
    },
    learn: (outcome) =>
      change((known) => ({ state: learn(known, outcome, clock.now(), bounds), result: undefined })),
    async pageSize(usual) {
      const { pageScale } = await state();
      return Math.max(Math.min(usual, SMALLEST_PAGE), Math.floor(usual * pageScale));
    },
  };
}

/** What an open connection has left; null if nothing is limited, or the remote does not report it. */
export async function budgetLeft({ limiter }: { limiter?: Limiter }): Promise<Budget | null> {
  return limiter ? budgetOf(await limiter.state(), Date.now()) : null;
}

/** A change that waits for its turn, with who asked for it. */
interface Waiting {
  step: (state: LimiterState | undefined) => { state: LimiterState; result: unknown };
  settle: PromiseWithResolvers<unknown>;
}

/**
 * Keeps states in the database: all processes share one rate for an account. What calls of this process ask for while one
 * transaction is under way is changed by the next one together, so that many calls do not wait for each other's commits.
 */
export function databaseLimiterStore(db: Db): LimiterStore {
  const waiting = new Map<string, Waiting[]>();

  /** Changes what has been asked for, until nothing is any more. */
  const work = async (account: string): Promise<void> => {
    for (let some = waiting.get(account)!; some.length > 0; some = waiting.get(account)!) {
      waiting.set(account, []);
      try {
        const results = await inTransaction(db, (sql) => changeAll(sql, account, some));
        for (const [n, { settle }] of some.entries()) settle.resolve(results[n]);
      } catch (error) {
        for (const { settle } of some) settle.reject(error);
      }
    }
    waiting.delete(account);
  };

  return {
    async look(account) {
      return (await db('itsm_account_limits').where({ account }).first('state'))?.state ?? undefined;
    },
    change(account, step) {
      const settle = Promise.withResolvers<unknown>();
      const asked = waiting.get(account);
      if (asked) asked.push({ step, settle });
      else {
        waiting.set(account, [{ step, settle }]);
        void work(account);
      }
      return settle.promise as Promise<ReturnType<typeof step>['result']>;
    },
  };
}

/** One step after the other. @returns what each has come to. */
async function changeAll(sql: Sql, account: string, steps: readonly Waiting[]): Promise<unknown[]> {
  // a pace that a crash makes forget is learnt again; all who share the account wait for the row
  const read = async (): Promise<{ state: LimiterState | null } | undefined> =>
    (
      await sql.raw(
        `select state, set_config('synchronous_commit', 'off', true) from itsm_account_limits
         where account = ? for update`,
        [account],
      )
    ).rows[0];
  let row = await read();
  if (!row) {
    await sql.raw('insert into itsm_account_limits (account) values (?) on conflict do nothing', [account]);
    row = await read();
  }
  const known = row?.state ?? undefined;
  let state = known;
  const results: unknown[] = [];
  for (const { step } of steps) {
    const changed = step(state);
    ({ state } = changed);
    results.push(changed.result);
  }
  // a turn that nobody waits for leaves the state as it is
  if (state !== known) {
    await sql.raw('update itsm_account_limits set state = ? where account = ?', [
      JSON.stringify(state),
      account,
    ]);
  }
  return results;
}
