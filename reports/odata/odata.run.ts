import type { Ctx } from '../../domain/context.ts';
import type { Fragment } from '../../domain/filters/filters.sql.ts';
import { sqlState } from '../../platform/database.ts';
import { readLineChunks } from '../report.lines.ts';
import { invalidQuery } from './odata.errors.ts';

/**
 * Runs one statement. What PostgreSQL cannot compute (a number out of range, a day that there is not) or finds too
 * complex is the query's fault.
 * @throws EstateError `odata_invalid_query`.
 */
export async function runStatement<Row>(ctx: Ctx, { sql, bindings }: Fragment): Promise<Row[]> {
  const { rows } = await running(() => ctx.db.raw(sql, bindings as never));
  return rows;
}

/**
 * Runs a statement of one column of JSON texts, each with a comma behind. They stay the bytes that the database writes: a
 * page of texts would keep the process busy with clearing them away.
 * @returns them in chunks, one a line and without the last comma. @throws EstateError as {@link runStatement}.
 */
export async function runLines(ctx: Ctx, statement: Fragment): Promise<Buffer[]> {
  return await running(() => readLineChunks(ctx.db, statement));
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
