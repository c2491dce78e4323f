import type { Knex } from 'knex';
import { lifecyclePhases } from '../../domain/metamodel/metamodel.types.ts';
import { literal, type PastScope } from './past.events.ts';
import { gather } from './past.gather.ts';
import { columnsRead, fieldsRead, isRead, type Reads } from './past.reads.ts';
import { type KeptApart, type PastTable, pastTables, type TouchedTable } from './past.tables.ts';

/** Tables whose old values are kept. */
export const keptApart: KeptApart[] = [
  {
    table: 'cards',
    values: 'card_old_values',
    id: 'card_id',
    type: 'card_type',
    plain: ['name', 'status', 'approval_status', 'data_quality'],
    optional: ['subtype', 'parent_id', ...lifecyclePhases.map((phase) => `lifecycle.${phase}`)],
    rows: 'past_cards',
  },
  {
    table: 'relations',
    values: 'relation_old_values',
    id: 'relation_id',
    type: 'relation_type',
    plain: ['source_id', 'target_id'],
    optional: [],
    rows: 'past_relations',
  },
];

/** Fields in which no row ever changes. */
export const fixedFields = ['type', 'created_at', 'created_by'];

/** Whether a table of old values tells of a field. */
export const tellsOf = ({ plain, optional }: KeptApart, field: string): boolean =>
  plain.includes(field) || optional.includes(field);

/** The old values of a table, where all that is read of it is kept there, so that nobody need look into the events. */
export function keptOf(past: PastTable, reads: Reads | undefined): KeptApart | undefined {
  const kept = keptApart.find(({ table }) => table === past.table);
  if (!kept || !isRead(past, reads) || columnsRead(past, reads) === undefined) return undefined;
  const isKept = (field: string) => tellsOf(kept, field) || fixedFields.includes(field);
  return fieldsRead(past, reads)!.every(isKept) ? kept : undefined;
}

/**
 * Gathers the rows of a table whose old values are kept, as far as they were written after a position, once, under the name
 * `rows`: for each whether it stood at the position (`existed`), whether it did and is no more (`gone`), the last event of its
 * coming and going (`last`), and the first old value of each field since.
 */
export async function collectKept(
  sql: Knex.Transaction,
  past: PastTable,
  kept: KeptApart,
  position: number,
  scope: PastScope,
): Promise<TouchedTable[]> {
  const types = kept.table === 'cards' ? scope.cardTypes : scope.relationTypes;
  const fields = fieldsRead(past, scope.reads)!.filter((field) => tellsOf(kept, field));
  const columns = kept.plain.filter((field) => fields.includes(field));
  if (kept.optional.some((field) => fields.includes(field))) columns.push('optional');
  const first = (column: string) =>
    `${column === 'optional' ? 'first_values' : 'first_told'}(${column}) as ${column}`;
  const told = columns.map((column) => `or ${column} is not null`);
  const none = columns.map((column) => `, ${column}`);
  await gather(sql, kept.rows, {
    // the aggregates see the values oldest first, as the inner query orders them
    sql: `
     select id, first % 2 = 0 as existed, first % 2 = 0 and coalesce(last % 2 = 1, false) as gone, last / 2 as last
       ${none.join('')}
     from (
       select ${kept.id} as id, min(position * 2 + (act = 'c')::int) as first,
         max(case when act <> 'u' then position * 2 + (act = 'd')::int end) as last
         ${columns.map((column) => `, ${first(column)}`).join('')}
       from (
         select * from ${kept.values}
         where position > ? and (act <> 'u' ${told.join(' ')}) ${types ? `and ${kept.type} = any(?::text[])` : ''}
         order by position
       ) told
       group by ${kept.id}
     ) written`,
    bindings: types ? [position, types] : [position],
    key: 'id',
    counted: 'id, existed, gone',
  });
  const found = fields.map((field) => {
    const one = kept.plain.includes(field)
      ? field
      : `case when jsonb_exists(optional, ${literal(field)}) then 1 end`;
    return `case when count(${one}) filter (where existed) > 0 then ${literal(field)} end`;
  });
  const { rows } = await sql.raw(
    `select bool_or(gone) as gone, bool_or(not existed) as made,
       array_remove(array[${found.join(', ')}]::text[], null) as fields
     from ${kept.rows} having count(*) > 0`,
  );
  return rows.map(
    (row: { gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      table: past,
      number: pastTables.indexOf(past),
      apart: kept,
      fields: new Set(row.fields),
    }),
  );
}
