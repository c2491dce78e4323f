import type { Knex } from 'knex';
import type { AsOfScope } from './as-of.events.ts';
import { collectOldValues, oldValuesOf } from './as-of.old-values.ts';
import { columnsRead, isRead, type Reads, readsStamps } from './as-of.reads.ts';
import { collectRows } from './as-of.rows.ts';
import { asOfTables, type TouchedTable } from './as-of.tables.ts';

/** Gathers what was written after a position of the tables that are read. */
export async function collectTouched(
  sql: Knex.Transaction,
  position: number,
  scope: AsOfScope = {},
): Promise<TouchedTable[]> {
  const { reads } = scope;
  const touched: TouchedTable[] = [];
  const others: Reads | undefined = reads && { ...reads };
  for (const past of asOfTables) {
    const kept = oldValuesOf(past, reads);
    if (!kept) continue;
    touched.push(await collectOldValues(sql, past, kept, position, scope));
    others![kept.table] = undefined;
  }
  if ([...asOfTables, 'card_tags' as const].some((table) => isRead(table, others))) {
    touched.push(...(await collectRows(sql, position, { ...scope, reads: others })));
  }
  for (const [number, table] of asOfTables.entries()) {
    if (
      !isRead(table, reads) ||
      !readsStamps(columnsRead(table, reads)) ||
      touched.some((one) => one.number === number)
    )
      continue;
    touched.push({ table, number, gone: false, made: false, fields: new Set() });
  }
  return touched;
}
