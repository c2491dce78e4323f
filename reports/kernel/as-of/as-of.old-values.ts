import type { Knex } from 'knex';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { type AsOfScope, DELETED, EXISTED, literal } from './as-of.events.ts';
import { changedFields, gather } from './as-of.gather.ts';
import { columnsRead, fieldsRead, isRead, type Reads } from './as-of.reads.ts';
import { type AsOfTable, asOfTables, type OldValuesTable, type TouchedTable } from './as-of.tables.ts';

/** Tables with a table of old values. */
export const oldValuesTables: OldValuesTable[] = [
  {
    table: 'cards',
    values: 'card_old_values',
    id: 'card_id',
    type: 'card_type',
    plain: ['name', 'status', 'approval_status', 'data_quality'],
    optional: ['subtype', 'parent_id', ...lifecyclePhases.map((phase) => `lifecycle.${phase}`)],
    rows: 'changed_cards',
  },
  {
    table: 'relations',
    values: 'relation_old_values',
    id: 'relation_id',
    type: 'relation_type',
    plain: ['source_id', 'target_id'],
    optional: [],
    rows: 'changed_relations',
  },
];

/** Fields that never change. */
export const fixedFields = ['type', 'created_at', 'created_by'];

/** Whether a table of old values has a field. */
export const hasOldValues = ({ plain, optional }: OldValuesTable, field: string): boolean =>
  plain.includes(field) || optional.includes(field);

/** The table of old values of a table, if it has all columns that are read, so that no events are needed. */
export function oldValuesOf(spec: AsOfTable, reads: Reads | undefined): OldValuesTable | undefined {
  const store = oldValuesTables.find(({ table }) => table === spec.table);
  if (!store || !isRead(spec, reads) || columnsRead(spec, reads) === undefined) return undefined;
  const isStored = (field: string) => hasOldValues(store, field) || fixedFields.includes(field);
  return fieldsRead(spec, reads)!.every(isStored) ? store : undefined;
}

/**
 * Collects the rows of a table of old values that were written after a position, under the name `rows`: for each whether
 * it existed at the position (`existed`), whether it was deleted since (`gone`), the last event that created or deleted
 * it (`last`), and the first old value of each field since.
 */
export async function collectOldValues(
  sql: Knex.Transaction,
  spec: AsOfTable,
  store: OldValuesTable,
  position: number,
  scope: AsOfScope,
): Promise<TouchedTable> {
  const types = store.table === 'cards' ? scope.cardTypes : scope.relationTypes;
  const fields = fieldsRead(spec, scope.reads)!.filter((field) => hasOldValues(store, field));
  const columns = store.plain.filter((field) => fields.includes(field));
  if (store.optional.some((field) => fields.includes(field))) columns.push('optional');
  const first = (column: string) =>
    `, ${column === 'optional' ? 'first_values' : 'first_not_null'}(e.${column}) as ${column}`;
  const changed = columns.map((column) => `or ${column} is not null`);
  await gather(sql, store.rows, {
    // the aggregates see the values oldest first, as the inner query orders them
    sql: `
     select ${['id', 'existed', 'existed and deleted as gone', 'last', ...columns].join(', ')}
     from (
       select e.${store.id} as id, ${EXISTED} as existed, ${DELETED} as deleted,
         max(e.position) filter (where e.created or e.deleted) as last ${columns.map(first).join(' ')}
       from (
         select *, act = 'c' as created, act = 'd' as deleted from ${store.values}
         where position > ? and (act <> 'u' ${changed.join(' ')}) ${types ? `and ${store.type} = any(?::text[])` : ''}
         order by position
       ) e
       group by e.${store.id}
     ) written`,
    bindings: types ? [position, types] : [position],
    key: 'id',
    counted: 'id, existed, gone',
  });
  const changedNames = changedFields(fields, (field) =>
    store.plain.includes(field) ? field : `case when jsonb_exists(optional, ${literal(field)}) then 1 end`,
  );
  const { rows } = await sql.raw(
    `select coalesce(bool_or(gone), false) as gone, coalesce(bool_or(not existed), false) as made, ${changedNames}
     from ${store.rows}`,
  );
  const { gone, made, fields: found } = rows[0];
  const number = asOfTables.indexOf(spec);
  return { table: spec, number, oldValuesTable: store, gone, made, fields: new Set(found) };
}
