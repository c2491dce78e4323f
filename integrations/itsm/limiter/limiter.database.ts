import type { Db } from '../../../platform/database.ts';
import type { LimiterState } from './limiter.state.ts';
import type { LimiterStore } from './limiter.store.ts';

/** Keeps states in the database: all processes share one rate for an account. */
export function databaseLimiterStore(db: Db): LimiterStore {
  return {
    change: (account, step) =>
      db.transaction(async (sql) => {
        const read = async (): Promise<{ state: LimiterState | null } | undefined> =>
          (await sql.raw('select state from itsm_account_limits where account = ? for update', [account]))
            .rows[0];
        let row = await read();
        if (!row) {
          await sql.raw('insert into itsm_account_limits (account) values (?) on conflict do nothing', [
            account,
          ]);
          row = await read();
        }
        const known = row?.state ?? undefined;
        const { state, result } = step(known);
        // looking at a state leaves it as it is
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
