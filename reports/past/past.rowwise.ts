import type { Knex } from 'knex';
import { type Column, columnsOf, settledBefore, shownBy, toldTogether } from './past.columns.ts';
import { DELETED, EXISTED, list } from './past.events.ts';
import { fixedFields, keptApart } from './past.kept.ts';
import { type KeptApart, type PastTable, pastTables } from './past.tables.ts';
import { toldUntil } from './past.views.ts';

/**
 * Puts temporary views before cards and relations that find out about each row when it is read, from the events of that row
 * alone: nothing is gathered first, so that it takes next to nothing to read a few rows by their ids and by the cards at
 * their ends. No other table can be read but `events` and `kpi_snapshots`.
 */
export async function shadowRowwise(sql: Knex.Transaction, position: number, asOf: Date): Promise<void> {
  const names = keptApart.map(({ table }) => table);
  const columns = await columnsOf(sql, names);
  const { rows } = await sql.raw(
    keptApart.map((kept) => `select exists (${goneSince(kept, position)}) as gone`).join(' union all '),
  );
  const views = keptApart.flatMap((kept, n) =>
    viewOf(
      kept,
      columns.filter(({ table }) => table === kept.table),
      rows[n].gone,
      position,
      asOf,
    ),
  );
  const others = [...pastTables.map(({ table }) => table), 'card_tags'].filter(
    (table) => !names.some((name) => name === table),
  );
  views.push(
    ...others.map((table) => `create temporary view ${table} as select`),
    ...toldUntil(position, asOf),
    // the planner knows neither how few rows are read, nor that telling of one takes some microseconds
    'set local jit = off',
  );
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/** Ids of rows that a table may hold no more, or hold with other ends, as these are looked for by an index. */
const goneSince = ({ values, id, plain }: KeptApart, position: number): string =>
  `select ${id} as id from ${values} where position > ${position}
   and ${plain.includes('source_id') ? `act <> 'c'` : `act = 'd'`}`;

/** What events since tell of one row. */
function toldOf(past: PastTable, id: string, position: number): string {
  const { table, created, updated, deleted } = past;
  const its =
    table === 'cards' ? `e.card_id = ${id} and e.relation_id is null` : `e.data ->> 'id' = ${id}::text`;
  return `
    select case when count(*) > 0 then ${id} end as id, ${EXISTED} as existed, ${DELETED} as deleted,
      first_changes(e.changes) as changes, first_changes(e.told) as told
    from (
      select e.position, e.event_type in (${list(created)}) as created, e.event_type in (${list(deleted)}) as deleted,
        e.data -> 'changes' as changes, case when e.event_type in (${list(deleted)}) then e.data - 'changes' end as told
      from public.events e
      where ${its} and e.position > ${position} and e.event_type in (${list([...created, ...updated, ...deleted])})
      order by e.position desc
    ) e`;
}

function viewOf(
  kept: KeptApart,
  columns: Column[],
  someGone: boolean,
  position: number,
  asOf: Date,
): string[] {
  const { table } = kept;
  const past = pastTables.find((one) => one.table === table)!;
  const showing = {
    past,
    told: toldTogether,
    columns,
    position,
    untouchedUntil: settledBefore(asOf),
    last: 'k.told',
  };
  // rows whose ends have changed are among the gone
  const { before } = shownBy({ ...showing, fixed: [...fixedFields, 'source_id', 'target_id'] });
  const names = columns.map(({ name }) => name).join(', ');
  const shown = columns.map((column) => `${before(column)} as ${column.name}`).join(',\n');
  if (!someGone) {
    return [
      `create temporary view ${table} as select ${shown}
       from public.${table} t left join lateral (${toldOf(past, 't.id', position)}) k on true
       where k.existed is not false`,
    ];
  }
  const gone = `past_gone_${table}`;
  const ends = columns.filter(({ name }) => ['id', 'source_id', 'target_id'].includes(name));
  const any = shownBy({ ...showing, fixed: fixedFields });
  const were = columns.map(
    (column) => `case when t.id is null then ${any.lost(column)} else ${any.before(column)} end`,
  );
  return [
    `create temporary table ${gone} as select * from public.${table} with no data`,
    `insert into ${gone} (${names}) select ${were.join(',\n')}
     from (select distinct id from (${goneSince(kept, position)}) g) g
     cross join lateral (${toldOf(past, 'g.id', position)}) k left join public.${table} t on t.id = g.id
     where k.existed ${table === 'cards' ? 'and t.id is null' : ''}`,
    ...ends.map(({ name }) => `create index on ${gone} (${name})`),
    `analyze ${gone}`,
    // both tables as they are, so that each is looked into by its own index
    `create temporary view ${table} as select ${shown}
     from (select ${names}, true as present from public.${table} union all select ${names}, false from ${gone}) t
     left join lateral (${toldOf(past, 't.id', position)}) k on t.present
     where k.existed is not false and not (t.present and t.id in (select id from ${gone}))`,
  ];
}
