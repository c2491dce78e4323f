import type { Db } from '../../../platform/database.ts';
import type { LimiterState } from './limiter.state.ts';
import type { LimiterStore } from './limiter.store.ts';

/** Keeps states in the database: all processes share one rate for an account. */
export function databaseLimiterStore(db: Db): LimiterStore {
  return {
    async look(account) {
      return (await db('itsm_account_limits').where({ account }).first('state'))?.state ?? undefined;
    },
    change: (account, step) =>
      db.transaction(async (sql) => {
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
          await sql.raw('insert into itsm_account_limits (account) values (?) on conflict do nothing', [
            account,
          ]);
          row = await read();
        }
        const known = row?.state ?? undefined;
        const { state, result } = step(known);
        // a turn that nobody waits for leaves the state as it is
        if (state !== known) {
          await sql.raw('update itsm_account_limits set state = ? where account = ?', [
            JSON.stringify(state),
            account,
          ]);
        }
        return result;
      }),
  };
}
