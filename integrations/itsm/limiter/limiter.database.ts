import { type Db, inTransaction, type Sql } from '../../../platform/database.ts';
import type { LimiterState, LimiterStore } from './limiter.state.ts';

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
