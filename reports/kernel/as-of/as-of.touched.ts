import type { Knex } from 'knex';
import type { PastScope } from './as-of.events.ts';
import { collectKept, keptOf } from './as-of.kept.ts';
import { columnsRead, isRead, type Reads, readsStamps } from './as-of.reads.ts';
import { collectRows } from './as-of.rows.ts';
import { pastTables, type TouchedTable } from './as-of.tables.ts';

/** Gathers what was written after a position of the tables that are read. */
export async function collectTouched(
  sql: Knex.Transaction,
  position: number,
  scope: PastScope = {},
): Promise<TouchedTable[]> {
  const { reads } = scope;
  const touched: TouchedTable[] = [];
  const others: Reads | undefined = reads && { ...reads };
  for (const past of pastTables) {
    const kept = keptOf(past, reads);
    if (!kept) continue;
    touched.push(await collectKept(sql, past, kept, position, scope));
    others![kept.table] = undefined;
  }
  if ([...pastTables, 'card_tags' as const].some((table) => isRead(table, others))) {
    touched.push(...(await collectRows(sql, position, { ...scope, reads: others })));
  }
  for (const [number, table] of pastTables.entries()) {
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
