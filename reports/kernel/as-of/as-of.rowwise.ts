import type { Knex } from 'knex';
import { type Column, columnsOf, columnsOfEvents, settledBefore, shownBy } from './as-of.columns.ts';
import { EXISTED, list } from './as-of.events.ts';
import { fixedFields, oldValuesTables } from './as-of.old-values.ts';
import { type AsOfTable, asOfTables, type OldValuesTable } from './as-of.tables.ts';
import { eventsUntil, unreadViews } from './as-of.views.ts';

/**
 * Puts temporary views before cards and relations that find out about each row when it is read, from the events of that row
 * alone: nothing is gathered first, so that it takes next to nothing to read a few rows by their ids and by the cards at
 * their ends. No other table can be read but `events` and `kpi_snapshots`.
 */
export async function shadowRowwise(sql: Knex.Transaction, position: number, asOf: Date): Promise<void> {
  const names = oldValuesTables.map(({ table }) => table);
  const columns = await columnsOf(sql, names);
  const { rows } = await sql.raw(
    oldValuesTables
      .map((kept) => `select exists (select ${goneSince(kept, position)}) as gone`)
      .join(' union all '),
  );
  const views = oldValuesTables.flatMap((kept, n) =>
    viewOf(
      kept,
      columns.filter(({ table }) => table === kept.table),
      rows[n].gone,
      position,
      asOf,
    ),
  );
  views.push(
    ...unreadViews((one) => one !== 'card_tags' && names.some((name) => name === one.table)),
    ...eventsUntil(position, asOf),
    // the planner cannot know how few rows are read: it would compile what takes less time to carry out
    'set local jit = off',
  );
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/** Rows that a table may hold no more, or hold with other ends: an index on what it holds does not find them. */
const goneSince = ({ values, plain }: OldValuesTable, position: number): string =>
  `from ${values} where position > ${position} and act ${endsOf(plain).length > 0 ? `<> 'c'` : `= 'd'`}`;

const endsOf = (names: string[]): string[] =>
  names.filter((name) => ['source_id', 'target_id'].includes(name));

/** What events since tell of one row. */
function toldOf(past: AsOfTable, id: string, position: number): string {
  const { table, created, updated, deleted } = past;
  const its =
    table === 'cards' ? `e.card_id = ${id} and e.relation_id is null` : `e.data ->> 'id' = ${id}::text`;
  return `
    select case when count(*) > 0 then ${id} end as id, ${EXISTED} as existed,
      first_changes(e.changes) as changes, first_changes(e.told) as told
    from (
      select e.position, e.event_type in (${list(created)}) as created,
        e.data -> 'changes' as changes, case when e.event_type in (${list(deleted)}) then e.data - 'changes' end as told
      from public.events e
      where ${its} and e.position > ${position} and e.event_type in (${list([...created, ...updated, ...deleted])})
      order by e.position desc
    ) e`;
}

function viewOf(
  kept: OldValuesTable,
  columns: Column[],
  someGone: boolean,
  position: number,
  asOf: Date,
): string[] {
  const { table, id } = kept;
  const past = asOfTables.find((one) => one.table === table)!;
  const ends = endsOf(kept.plain);
  // what rows are looked for by is as it was in either table
  const sought = ['id', 'type', ...ends];
  const { before, lost } = shownBy({
    past,
    told: columnsOfEvents,
    fixed: [...fixedFields, ...ends],
    columns,
    position,
    untouchedUntil: settledBefore(asOf),
    last: 'k.told',
  });
  const told = `left join lateral (${toldOf(past, 't.id', position)}) k on true where k.existed is not false`;
  const select = (value: (column: Column) => string) =>
    columns.map((column) => `${value(column)} as ${column.name}`).join(',\n');
  if (!someGone) {
    return [`create temporary view ${table} as select ${select(before)} from public.${table} t ${told}`];
  }
  const gone = `past_gone_${table}`;
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
       ${goneSince(kept, position)} group by ${id}
     ) v
     left join public.${table} t on t.id = v.id
     left join public.events d on d.position = v.last
     ${ends.length > 0 ? '' : 'where t.id is null'}`,
    ...columns
      .filter(({ name }) => name === 'id' || ends.includes(name))
      .map(({ name }) => `create index on ${gone} (${name})`),
    `analyze ${gone}`,
    // both tables side by side as they stand, so that each is looked into by its own index
    `create temporary view ${table} as
     select ${select((column) => {
       if (sought.includes(column.name)) return `t.${column.name}`;
       return `case when t.lost then ${lost(column)} else ${before(column)} end`;
     })}
     from (
       select ${names}, false as lost, true as stands from public.${table}
       union all select ${names}, lost, false from ${gone}
     ) t
     ${told} and not (t.stands and t.id in (select id from ${gone}))`,
  ];
}
