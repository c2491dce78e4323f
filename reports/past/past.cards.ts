import type { Knex } from 'knex';
import { lifecyclePhases } from '../../domain/metamodel/metamodel.types.ts';
import { literal, type PastScope } from './past.events.ts';
import { gather } from './past.gather.ts';
import { columnsRead, fieldsRead, type Reads } from './past.reads.ts';
import { pastTables, type TouchedTable } from './past.tables.ts';

const cards = pastTables.find(({ table }) => table === 'cards')!;

/** Fields with a column of their own in `card_old_values`: they are never empty. */
const plain = ['name', 'status', 'approval_status', 'data_quality'];
/** Fields that `card_old_values` tells in one column, as they may be empty. */
export const optionalFields = [
  'subtype',
  'parent_id',
  ...lifecyclePhases.map((phase) => `lifecycle.${phase}`),
];
/** Fields in which no card ever changes. */
const fixed = ['type', 'created_at', 'created_by'];

export const isPlain = (field: string): boolean => plain.includes(field);
/** Whether `card_old_values` tells of a field. */
export const isTold = (field: string): boolean => isPlain(field) || optionalFields.includes(field);

/** Whether all that is read of cards is kept in `card_old_values`, so that nobody need look into the events. */
export function cardsApart(reads: Reads | undefined): boolean {
  if (!reads?.cards || columnsRead(cards, reads) === undefined) return false;
  return fieldsRead(cards, reads)!.every((field) => isTold(field) || fixed.includes(field));
}

const GONE = 'first % 2 = 0 and coalesce(last % 2 = 1, false) as gone';

/**
 * Gathers the cards that were written after a position, once, as `past_cards`: for each whether it stood at the position
 * (`existed`), whether it did and is no more (`gone`), the last event of its coming and going (`last`), and the first old
 * value of each field since.
 */
export async function collectCards(
  sql: Knex.Transaction,
  position: number,
  { cardTypes, reads }: PastScope,
): Promise<TouchedTable[]> {
  const fields = fieldsRead(cards, reads)!.filter(isTold);
  const columns = plain.filter((field) => fields.includes(field));
  const optional = optionalFields.filter((field) => fields.includes(field));
  if (optional.length > 0) columns.push('optional');
  const told = columns.map((column) => `or ${column} is not null`);
  const first = (column: string) =>
    `${column === 'optional' ? 'first_values' : 'first_told'}(${column}) as ${column}`;
  await gather(sql, 'past_cards', {
    sql: `
     select ${['id', 'first % 2 = 0 as existed', GONE, 'last / 2 as last', ...columns].join(', ')}
     from (
       select card_id as id, min(position * 2 + (act = 'c')::int) as first,
         ${["max(case when act <> 'u' then position * 2 + (act = 'd')::int end) as last", ...columns.map(first)].join(', ')}
       from (
         select * from card_old_values
         where position > ? and (act <> 'u' ${told.join(' ')}) ${cardTypes ? 'and card_type = any(?::text[])' : ''}
         order by position
       ) told
       group by card_id
     ) written`,
    bindings: cardTypes ? [position, cardTypes] : [position],
    key: 'id',
    counted: 'id, existed, gone',
  });
  const found = fields.map((field) => {
    const one = isPlain(field) ? field : `case when jsonb_exists(optional, ${literal(field)}) then 1 end`;
    return `case when count(${one}) filter (where existed) > 0 then ${literal(field)} end`;
  });
  const { rows } = await sql.raw(
    `select bool_or(gone) as gone, bool_or(not existed) as made,
       array_remove(array[${found.join(', ')}]::text[], null) as fields
     from past_cards having count(*) > 0`,
  );
  return rows.map(
    (row: { gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      table: cards,
      number: pastTables.indexOf(cards),
      apart: true,
      fields: new Set(row.fields),
    }),
  );
}
