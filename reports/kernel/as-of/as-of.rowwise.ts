import type { Knex } from 'knex';
import { type Column, columnSql, columnsOf, oldValuesInEvents, settledBefore } from './as-of.columns.ts';
import { EXISTED, list } from './as-of.events.ts';
import { fixedFields, oldValuesTables } from './as-of.old-values.ts';
import { isRead, type Reads } from './as-of.reads.ts';
import { collectTouched } from './as-of.rows.ts';
import { type AsOfTable, asOfTables, type OldValuesTable } from './as-of.tables.ts';
import { collectedViews, eventsUntil, unreadViews } from './as-of.views.ts';

/**
 * Shadows cards and relations by temporary views that compute each row from its own events when it is read. Nothing of them
 * is collected first, so that reading a few rows by their ids or ends is fast. Besides these only data flows, if `reads` has
 * them, `events` and `kpi_snapshots` can be read.
 */
export async function createRowwiseViews(
  sql: Knex.Transaction,
  position: number,
  asOf: Date,
  reads?: Reads,
): Promise<void> {
  const names = oldValuesTables.map(({ table }) => table);
  const columns = await columnsOf(sql, names);
  const { rows } = await sql.raw(
    oldValuesTables
      .map((store) => `select exists (select ${goneSince(store, position)}) as gone`)
      .join(' union all '),
  );
  const views = oldValuesTables.flatMap((store, n) =>
    viewOf(
      store,
      columns.filter(({ table }) => table === store.table),
      rows[n].gone,
      position,
      asOf,
    ),
  );
  const others: Reads = { ...(reads?.dataFlows ? { dataFlows: true } : {}), others: false };
  views.push(
    ...(reads?.dataFlows
      ? await collectedViews(sql, await collectTouched(sql, position, { reads: others }), position, asOf)
      : []),
    ...unreadViews(
      (one) => isRead(one, others) || (one !== 'card_tags' && names.some((name) => name === one.table)),
    ),
    ...eventsUntil(position, asOf),
    // the planner overestimates the rows and would use JIT compilation for fast queries
    'set local jit = off',
  );
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/** Rows that were deleted or have other ends now: no index of the table finds them. */
const goneSince = ({ values, plain }: OldValuesTable, position: number): string =>
  `from ${values} where position > ${position} and act ${endsOf(plain).length > 0 ? `<> 'c'` : `= 'd'`}`;

const endsOf = (names: string[]): string[] =>
  names.filter((name) => ['source_id', 'target_id'].includes(name));

/** The changes of one row since, from its events. */
function changesOf(spec: AsOfTable, id: string, position: number): string {
  const { table, created, updated, deleted } = spec;
  const its =
    table === 'cards' ? `e.card_id = ${id} and e.relation_id is null` : `e.data ->> 'id' = ${id}::text`;
  return `
    select case when count(*) > 0 then ${id} end as id, ${EXISTED} as existed,
      first_changes(e.changes) as changes, first_changes(e.last_values) as last_values
    from (
      select e.position, e.event_type in (${list(created)}) as created,
        e.data -> 'changes' as changes, case when e.event_type in (${list(deleted)}) then e.data - 'changes' end as last_values
      from public.events e
      where ${its} and e.position > ${position} and e.event_type in (${list([...created, ...updated, ...deleted])})
      order by e.position desc
    ) e`;
}

function viewOf(
  store: OldValuesTable,
  columns: Column[],
  someGone: boolean,
  position: number,
  asOf: Date,
): string[] {
  const { table, id } = store;
  const spec = asOfTables.find((one) => one.table === table)!;
  const ends = endsOf(store.plain);
  // columns that rows are looked up by
  const sought = ['id', 'type', ...ends];
  const { before, lost } = columnSql({
    spec,
    oldValues: oldValuesInEvents,
    fixed: [...fixedFields, ...ends],
    columns,
    position,
    unchangedSince: settledBefore(asOf),
    last: 'k.last_values',
  });
  const joined = `left join lateral (${changesOf(spec, 't.id', position)}) k on true where k.existed is not false`;
  const select = (value: (column: Column) => string) =>
    columns.map((column) => `${value(column)} as ${column.name}`).join(',\n');
  if (!someGone) {
    return [`create temporary view ${table} as select ${select(before)} from public.${table} t ${joined}`];
  }
  const gone = `former_${table}`;
  const names = columns.map(({ name }) => name).join(', ');
  const filled = columns.map(({ name, type }) => {
    if (name === 'id') return 'v.id';
    if (!sought.includes(name)) return `t.${name}`;
    return `coalesce(${ends.includes(name) ? `v.${name}, ` : ''}t.${name}, (d.data ->> '${name}')::${type})`;
  });
  const first = ends.map((end) => `, first_not_null(${end} order by position) as ${end}`).join('');
  return [
    `create temporary table ${gone} as select *, true as lost from public.${table} with no data`,
    `insert into ${gone} (${names}, lost) select ${filled.join(', ')}, t.id is null
     from (
       select ${id} as id, max(position) filter (where act = 'd') as last ${first}
       ${goneSince(store, position)} group by ${id}
     ) v
     left join public.${table} t on t.id = v.id
     left join public.events d on d.position = v.last
     ${ends.length > 0 ? '' : 'where t.id is null'}`,
    ...columns
      .filter(({ name }) => name === 'id' || ends.includes(name))
      .map(({ name }) => `create index on ${gone} (${name})`),
    `analyze ${gone}`,
    // a union of plain tables, so that each can use its own index
    `create temporary view ${table} as
     select ${select((column) => {
       if (sought.includes(column.name)) return `t.${column.name}`;
       return `case when t.lost then ${lost(column)} else ${before(column)} end`;
     })}
     from (
       select ${names}, false as lost, true as is_current from public.${table}
       union all select ${names}, lost, false from ${gone}
     ) t
     ${joined} and not (t.is_current and t.id in (select id from ${gone}))`,
  ];
}
