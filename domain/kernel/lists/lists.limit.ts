import { type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';

/** Time limit of a statement of a list in milliseconds. */
const LIST_MS = 20_000;

/** The SQLSTATE of a statement that was cancelled, here by its time limit. */
const CANCELLED = '57014';

/**
 * Runs statements of a list that may read all rows, each with a time limit. In a transaction of the caller they have none.
 * @throws EstateError `too_slow`.
 */
export async function withTimeLimit<T>(
  sql: Sql,
  work: (sql: Sql) => Promise<T>,
  limitMs = LIST_MS,
): Promise<T> {
  if (sql.isTransaction) return await work(sql);
  try {
    return await sql.transaction(async (trx) => {
      await trx.raw(`set local statement_timeout = ${limitMs}`);
      return await work(trx);
    });
  } catch (error) {
    if (sqlState(error) !== CANCELLED) throw error;
    throw new EstateError(
      'too_slow',
      `Reading the list was cancelled after ${limitMs / 1000} seconds: use a filter that selects fewer rows or another order, or read everything by an export or an extract.`,
      { cause: error, headers: { 'retry-after': '30' } },
    );
  }
}
