import type { Knex } from 'knex';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { type AsOfScope, DELETED, EXISTED, literal } from './as-of.events.ts';
import { changedFields, gather } from './as-of.gather.ts';
import { columnsRead, fieldsRead, isRead, type Reads } from './as-of.reads.ts';
import { type AsOfTable, asOfTables, type OldValuesTable, type TouchedTable } from './as-of.tables.ts';

/** Tables whose old values are kept. */
export const oldValuesTables: OldValuesTable[] = [
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
export const hasOldValues = ({ plain, optional }: OldValuesTable, field: string): boolean =>
  plain.includes(field) || optional.includes(field);

/** The old values of a table, where all that is read of it is kept there, so that nobody need look into the events. */
export function oldValuesOf(past: AsOfTable, reads: Reads | undefined): OldValuesTable | undefined {
  const kept = oldValuesTables.find(({ table }) => table === past.table);
  if (!kept || !isRead(past, reads) || columnsRead(past, reads) === undefined) return undefined;
  const isKept = (field: string) => hasOldValues(kept, field) || fixedFields.includes(field);
  return fieldsRead(past, reads)!.every(isKept) ? kept : undefined;
}

/**
 * Gathers the rows of a table whose old values are kept, as far as they were written after a position, once, under the name
 * `rows`: for each whether it stood at the position (`existed`), whether it did and is no more (`gone`), the last event of its
 * coming and going (`last`), and the first old value of each field since.
 */
export async function collectOldValues(
  sql: Knex.Transaction,
  past: AsOfTable,
  kept: OldValuesTable,
  position: number,
  scope: AsOfScope,
): Promise<TouchedTable> {
  const types = kept.table === 'cards' ? scope.cardTypes : scope.relationTypes;
  const fields = fieldsRead(past, scope.reads)!.filter((field) => hasOldValues(kept, field));
  const columns = kept.plain.filter((field) => fields.includes(field));
  if (kept.optional.some((field) => fields.includes(field))) columns.push('optional');
  const first = (column: string) =>
    `, ${column === 'optional' ? 'first_values' : 'first_not_null'}(e.${column}) as ${column}`;
  const told = columns.map((column) => `or ${column} is not null`);
  await gather(sql, kept.rows, {
    // the aggregates see the values oldest first, as the inner query orders them
    sql: `
     select ${['id', 'existed', 'existed and deleted as gone', 'last', ...columns].join(', ')}
     from (
       select e.${kept.id} as id, ${EXISTED} as existed, ${DELETED} as deleted,
         max(e.position) filter (where e.created or e.deleted) as last ${columns.map(first).join(' ')}
       from (
         select *, act = 'c' as created, act = 'd' as deleted from ${kept.values}
         where position > ? and (act <> 'u' ${told.join(' ')}) ${types ? `and ${kept.type} = any(?::text[])` : ''}
         order by position
       ) e
       group by e.${kept.id}
     ) written`,
    bindings: types ? [position, types] : [position],
    key: 'id',
    counted: 'id, existed, gone',
  });
  const changed = changedFields(fields, (field) =>
    kept.plain.includes(field) ? field : `case when jsonb_exists(optional, ${literal(field)}) then 1 end`,
  );
  const { rows } = await sql.raw(
    `select coalesce(bool_or(gone), false) as gone, coalesce(bool_or(not existed), false) as made, ${changed}
     from ${kept.rows}`,
  );
  const { gone, made, fields: found } = rows[0];
  return {
    table: past,
    number: asOfTables.indexOf(past),
    apart: kept,
    gone,
    made,
    fields: new Set(found),
  };
}
