import type { Knex } from 'knex';
import { counted } from '../../../platform/counted.ts';
import { query } from '../../../platform/database.ts';
import { LEFT_OUT } from './mapping.targets.ts';
import { type MappedBlock, readonlyReason, unmapped } from './mapping.ts';
import type { MigrationRow } from './migration.list.ts';
import { describeTarget } from './record-kinds.ts';
import { ARCHIVED, insertRecords, type NewRecord, type Staging } from './staging.ts';

/** Creates records of the types and columns of the file: what they are mapped to, and which are left out. */
export async function stageModel(
  sql: Knex.Transaction,
  { migration, mapped, nextLine }: Staging,
): Promise<void> {
  const records = [...mapped.values()].flatMap((one): NewRecord[] => {
    const { block, target, type, leftOut, columns } = one;
    const { native_type, rows } = block;
    const place = { source_type: native_type, card_type_key: type?.key };
    const why = leftOut
      ? `${block.kind === 'about' ? 'describes the source workspace' : 'left out on request'}: ${counted(rows, 'row')}`
      : `is no known card type, which leaves out ${counted(rows, 'row')}: map it or leave it out`;
    const itself: NewRecord = {
      ...place,
      line: nextLine(),
      entity_kind: 'metamodel_type',
      source_id: native_type,
      display_name: native_type,
      action: target || leftOut ? 'skip' : 'conflict',
      error_message: target ? null : why,
    };
    if (!target) return [itself];
    const isRelation = (column: string) =>
      target.kind === 'relation' || (migration.source_type === 'leanix' && /^rel[A-Z]/.test(column));
    const field = (column: string, action: 'conflict' | 'skip', error_message: string): NewRecord => ({
      ...place,
      line: nextLine(),
      entity_kind: isRelation(column) ? 'metamodel_relation_type' : 'metamodel_field',
      source_id: `${native_type}:${column}`,
      display_name: column,
      action,
      error_message,
    });
    const open = unmapped(one, migration.source_type).map(({ key, values }) =>
      field(
        key,
        'conflict',
        `${readonlyReason(one, key) ?? 'is not mapped'}, which leaves out ${counted(values, 'value')}: map it or leave it out`,
      ),
    );
    const asked = block.columns
      .filter(({ key, values }) => values > 0 && columns.get(key) === LEFT_OUT)
      .map(({ key, values }) => field(key, 'skip', `left out on request: ${counted(values, 'value')}`));
    return [itself, ...open, ...asked];
  });
  await insertRecords(sql, migration.id, records);
}

/** Creates a record of each column with values that its field does not accept, with their number. */
export async function stageOmittedValues(
  sql: Knex.Transaction,
  { migration, nextLine }: Staging,
): Promise<void> {
  const rows = await query(sql).rows<{
    source_type: string;
    card_type_key: string;
    field: string;
    code: string;
    n: number;
  }>`select r.source_type, r.card_type_key, e ->> 'field' as field, e ->> 'code' as code, count(*)::int as n
     from migration_records r cross join jsonb_array_elements(r.left_out) e
     where r.migration_id = ${migration.id} and r.entity_kind in ('card', 'relation', 'document', 'comment')
     group by 1, 2, 3, 4 order by 1, 3, 4`;
  const records = rows.map(
    ({ source_type, card_type_key, field, code, n }): NewRecord => ({
      line: nextLine(),
      entity_kind: 'metamodel_field',
      source_id: `${source_type}:${field}:${code}`,
      source_type,
      display_name: field,
      card_type_key,
      action: 'conflict',
      error_message: `${counted(n, 'value')} left out: ${code.replaceAll('_', ' ')}`,
    }),
  );
  await insertRecords(sql, migration.id, records);
}

/** The statistics of a migration: records by kind and action, and by status once it was applied. */
export async function countRecords(
  sql: Knex.Transaction,
  migrationId: string,
): Promise<Record<string, unknown>> {
  const rows = await query(sql).rows`select entity_kind, action, status, count(*)::int as n,
    coalesce(sum(jsonb_array_length(left_out)), 0)::int as left_out,
       (count(*) filter (where action = 'skip' and error_message = ${ARCHIVED}))::int as archived
     from migration_records where migration_id = ${migrationId} group by 1, 2, 3 order by 1, 2, 3`;
  const records: Record<string, Record<string, number>> = {};
  let values_left_out = 0;
  let rows_archived = 0;
  for (const { entity_kind, action, status, n, left_out, archived } of rows) {
    records[entity_kind] ??= {};
    const counts = records[entity_kind]!;
    counts[action] = (counts[action] ?? 0) + n;
    if (status !== 'pending') counts[status] = (counts[status] ?? 0) + n;
    values_left_out += left_out;
    rows_archived += archived;
  }
  return { records, values_left_out, rows_archived };
}

/** The types and columns of the file with their mapping, for the migration's `metamodel_diff`. */
export function modelDiff(migration: MigrationRow, mapped: readonly MappedBlock[]): Record<string, unknown> {
  return {
    types: mapped.map(({ block, target, type, leftOut }) => ({
      native_type: block.native_type,
      card_type: type?.key ?? null,
      target: describeTarget(target).key,
      rows: block.rows,
      left_out: leftOut,
    })),
    unmapped_columns: mapped.flatMap((one) =>
      (one.target ? unmapped(one, migration.source_type) : []).map(({ key, values }) => ({
        native_type: one.block.native_type,
        column: key,
        values,
      })),
    ),
  };
}
