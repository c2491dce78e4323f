import type { Fragment } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { sqlState } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { invalidQuery } from './odata.errors.ts';

/**
 * Runs one statement. SQLSTATE class 22 (data exception, such as a number out of range) and class 54 (limit exceeded) are
 * reported as invalid queries.
 * @throws EstateError `odata_invalid_query`.
 */
export async function runStatement<Row>(ctx: Ctx, { sql, bindings }: Fragment): Promise<Row[]> {
  const { rows } = await running(() => ctx.db.raw(sql, bindings));
  return rows;
}

/** Runs `work` on one snapshot. @throws EstateError as {@link runStatement}. */
export async function inSnapshot<T>(ctx: Ctx, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  return await running(() => withSnapshot(ctx.db, work));
}

async function running<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const state = sqlState(error) ?? '';
    if (state.startsWith('22')) throw invalidQuery('$filter', 'a value in it cannot be computed');
    if (state.startsWith('54')) throw invalidQuery('$filter', 'it is too complex');
    throw error;
  }
}
