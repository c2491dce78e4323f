import type { Knex } from 'knex';
import {
  type Column,
  columnsOf,
  columnsOfEvents,
  settledBefore,
  shownBy,
  toldOfKept,
} from './as-of.columns.ts';
import { literal } from './as-of.events.ts';
import { hasOldValues } from './as-of.old-values.ts';
import { columnsRead, isRead, type Reads } from './as-of.reads.ts';
import { type AsOfTable, asOfTables, type TouchedTable } from './as-of.tables.ts';

/**
 * Puts temporary views of the same names before the tables, which PostgreSQL looks into first: each shows the table's
 * rows that were not written since, and the old rows of those that were. Columns that nobody asks for cost nothing.
 */
export async function shadowTables(
  sql: Knex.Transaction,
  touched: TouchedTable[],
  position: number,
  asOf: Date,
  reads?: Reads,
): Promise<void> {
  const names = touched.flatMap(({ table }) => (table === 'card_tags' ? [] : [table.table]));
  const columns = await columnsOf(sql, names);
  const untouchedUntil = settledBefore(asOf);
  const views = touched.map((one) =>
    one.table === 'card_tags'
      ? tagLinks(one)
      : viewOf(
          one.table,
          one,
          columns.filter(({ table }) => table === (one.table as AsOfTable).table),
          reads,
          position,
          untouchedUntil,
        ),
  );
  views.push(...unreadViews((table) => isRead(table, reads)), ...eventsUntil(position, asOf));
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/**
 * What a table held. A column that changed in no row is the table's own, and the join falls away where a query reads
 * only such columns.
 */
function viewOf(
  past: AsOfTable,
  { number, apart, gone, made, fields }: TouchedTable,
  columns: Column[],
  reads: Reads | undefined,
  position: number,
  untouchedUntil: Date,
): string {
  const { before, lost } = shownBy({
    past,
    told: apart ? toldOfKept(apart) : columnsOfEvents,
    fields,
    columns,
    position,
    untouchedUntil,
    last: apart ? 'd.data' : 'k.told',
    lastAlone: (name) => apart !== undefined && !hasOldValues(apart, name),
  });
  const { table } = past;
  const rows = apart?.rows ?? 'past_rows';
  const its = (row: string) => (apart ? 'true' : `${row}.number = ${number}`);
  // of the others nothing was gathered: whoever reads one shall fail and not see it as it is now
  const read = columnsRead(past, reads);
  const shown = read ? columns.filter(({ name }) => name === 'id' || read.includes(name)) : columns;
  const select = (value: (column: Column) => string) =>
    shown.map((column) => `${value(column)} as ${column.name}`).join(',\n');
  const present = `select ${select(before)}
    from public.${table} t left join ${rows} k on ${its('k')} and k.id = t.id
    ${made ? `where not exists (select from ${rows} n where ${its('n')} and n.id = t.id and not n.existed)` : ''}`;
  const deletion = apart ? 'join public.events d on d.position = k.last' : '';
  const absent = `select ${select(lost)} from ${rows} k ${deletion} where ${its('k')} and k.gone`;
  return `create temporary view ${table} as ${gone ? `${present} union all ${absent}` : present}`;
}

/** Views without columns of all tables that are not read: whoever reads one shall fail and not see it as it is now. */
export const unreadViews = (isRead: (table: AsOfTable | 'card_tags') => boolean): string[] =>
  [...asOfTables, 'card_tags' as const]
    .filter((table) => !isRead(table))
    .map((table) => `create temporary view ${table === 'card_tags' ? table : table.table} as select`);

/** Views of what is told, and not changed, as time goes on. */
export const eventsUntil = (position: number, asOf: Date): string[] => [
  `create temporary view events as select * from public.events where position <= ${position}`,
  `create temporary view kpi_snapshots as
   select * from public.kpi_snapshots where slot <= ${literal(asOf.toISOString())}::timestamptz`,
];

/** A tag was on a card when the first that was told of it since is that it was taken off. */
function tagLinks({ number, gone }: TouchedTable): string {
  const present = `select t.* from public.card_tags t
    where not exists (select from past_rows k
      where k.number = ${number} and k.card_id = t.card_id and k.tag_id = t.tag_id and not k.existed)`;
  const absent = `select k.card_id, k.tag_id from past_rows k where k.number = ${number} and k.gone`;
  return `create temporary view card_tags as ${gone ? `${present} union all ${absent}` : present}`;
}
