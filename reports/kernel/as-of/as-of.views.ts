import type { Knex } from 'knex';
import {
  type Column,
  columnSql,
  columnsOf,
  oldValuesInEvents,
  oldValuesInTable,
  settledBefore,
} from './as-of.columns.ts';
import { literal } from './as-of.events.ts';
import { hasOldValues } from './as-of.old-values.ts';
import { columnsRead, isRead, type Reads } from './as-of.reads.ts';
import { type AsOfTable, asOfTables, type TouchedTable } from './as-of.tables.ts';

/**
 * Shadows the tables by temporary views of the same names, which come first in the search path: each has the table's rows
 * that were not written since, and the old versions of those that were. Columns that a query does not read cost nothing.
 */
export async function createViews(
  sql: Knex.Transaction,
  touched: TouchedTable[],
  position: number,
  asOf: Date,
  reads?: Reads,
): Promise<void> {
  const views = await collectedViews(sql, touched, position, asOf, reads);
  views.push(...unreadViews((table) => isRead(table, reads)), ...eventsUntil(position, asOf));
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/** The statements that create the views of tables with collected rows. */
export async function collectedViews(
  sql: Knex.Transaction,
  touched: TouchedTable[],
  position: number,
  asOf: Date,
  reads?: Reads,
): Promise<string[]> {
  const names = touched.flatMap(({ table }) => (table === 'card_tags' ? [] : [table.table]));
  const columns = await columnsOf(sql, names);
  const unchangedSince = settledBefore(asOf);
  return touched.map((one) =>
    one.table === 'card_tags'
      ? tagLinks(one)
      : viewOf(
          one.table,
          one,
          columns.filter(({ table }) => table === (one.table as AsOfTable).table),
          reads,
          position,
          unchangedSince,
        ),
  );
}

/**
 * The rows of a table as of the date. A column that changed in no row is read from the table, and the planner removes
 * the join for queries that read only such columns.
 */
function viewOf(
  spec: AsOfTable,
  { number, oldValuesTable, gone, made, fields }: TouchedTable,
  columns: Column[],
  reads: Reads | undefined,
  position: number,
  unchangedSince: Date,
): string {
  const { before, lost } = columnSql({
    spec,
    oldValues: oldValuesTable ? oldValuesInTable(oldValuesTable) : oldValuesInEvents,
    fields,
    columns,
    position,
    unchangedSince,
    last: oldValuesTable ? 'd.data' : 'k.last_values',
    isLastComplete: (name) => oldValuesTable !== undefined && !hasOldValues(oldValuesTable, name),
  });
  const { table } = spec;
  const rows = oldValuesTable?.rows ?? 'changed_rows';
  const its = (row: string) => (oldValuesTable ? 'true' : `${row}.number = ${number}`);
  // other columns were not collected: reading them must fail instead of returning current values
  const read = columnsRead(spec, reads);
  const shown = read ? columns.filter(({ name }) => name === 'id' || read.includes(name)) : columns;
  const select = (value: (column: Column) => string) =>
    shown.map((column) => `${value(column)} as ${column.name}`).join(',\n');
  const present = `select ${select(before)}
    from public.${table} t left join ${rows} k on ${its('k')} and k.id = t.id
    ${made ? `where not exists (select from ${rows} n where ${its('n')} and n.id = t.id and not n.existed)` : ''}`;
  const deletion = oldValuesTable ? 'join public.events d on d.position = k.last' : '';
  const absent = `select ${select(lost)} from ${rows} k ${deletion} where ${its('k')} and k.gone`;
  return `create temporary view ${table} as ${gone ? `${present} union all ${absent}` : present}`;
}

/** Views without columns of the tables that are not read: reading one must fail instead of returning current values. */
export const unreadViews = (isRead: (table: AsOfTable | 'card_tags') => boolean): string[] =>
  [...asOfTables, 'card_tags' as const]
    .filter((table) => !isRead(table))
    .map((table) => `create temporary view ${table === 'card_tags' ? table : table.table} as select`);

/** Views of the tables to which rows are only added. */
export const eventsUntil = (position: number, asOf: Date): string[] => [
  `create temporary view events as select * from public.events where position <= ${position}`,
  `create temporary view kpi_snapshots as
   select * from public.kpi_snapshots where slot <= ${literal(asOf.toISOString())}::timestamptz`,
];

/** A card had a tag at the time if the first later event removes it. */
function tagLinks({ number, gone }: TouchedTable): string {
  const present = `select t.* from public.card_tags t
    where not exists (select from changed_rows k
      where k.number = ${number} and k.card_id = t.card_id and k.tag_id = t.tag_id and not k.existed)`;
  const absent = `select k.card_id, k.tag_id from changed_rows k where k.number = ${number} and k.gone`;
  return `create temporary view card_tags as ${gone ? `${present} union all ${absent}` : present}`;
}
