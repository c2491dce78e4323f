import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { Db } from '../../../platform/database.ts';
import { type Snapshot, snapshotOn, withSnapshot } from '../../../platform/snapshot.ts';
import { readAsOf } from '../../kernel/as-of/as-of.ts';
import { tooLong } from './query.guard.ts';

/** The moment that a query reads: now, unless `asOf` names another. */
export interface QueryTime {
  asOf: string | undefined;
  /** Whether the reader sees costs. */
  costs: boolean;
}

export const momentOf = (ctx: Ctx, query: { as_of?: string }): QueryTime => ({
  asOf: query.as_of,
  costs: may(ctx.caller, 'costs.view'),
});

/**
 * Runs `work` on one snapshot, of now or of a moment in the past, with bounds and memory for aggregates over all cards.
 * @param timeLimit milliseconds for each statement.
 * @throws EstateError `query_too_heavy` for a statement that takes longer, those of `readAsOf`.
 */
export async function withQuerySnapshot<T>(
  db: Db,
  { asOf, costs }: QueryTime,
  timeLimit: number,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const bounded = async (snapshot: Snapshot) => {
    await snapshot.query(`set local statement_timeout = ${timeLimit}`);
    await snapshot.query(`set local work_mem = '64MB'`);
    // compiling would take longer than most of these queries
    await snapshot.query('set local jit = off');
    return await work(snapshot);
  };
  try {
    if (asOf === undefined) return await withSnapshot(db, bounded);
    return await readAsOf(
      db,
      new Date(asOf),
      async (sql) => bounded(snapshotOn(await sql.client.acquireConnection())),
      { costs },
    );
  } catch (error) {
    throw tooLong(error, timeLimit);
  }
}
