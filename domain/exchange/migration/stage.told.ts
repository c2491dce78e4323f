import type { Knex } from 'knex';
import { keyOf } from './mapping.stands.ts';
import { LEFT_OUT } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import { unmapped } from './mapping.ts';
import type { MigrationRow } from './migration.model.ts';
import { ARCHIVED, insertRecords, type NewRecord } from './records.ts';

/** A count with its noun. */
const some = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** Makes records of the kinds of things and columns of the file: what they stand for here, and what for nothing. */
export async function tellModel(
  sql: Knex.Transaction,
  migration: MigrationRow,
  mapped: readonly MappedBlock[],
  nextLine: () => number,
): Promise<void> {
  const records = mapped.flatMap((one): NewRecord[] => {
    const { block, stands, type, leftOut, columns } = one;
    const { native_type, rows } = block;
    const itself: NewRecord = {
      line: nextLine(),
      entity_kind: 'metamodel_type',
      source_id: native_type,
      source_type: native_type,
      display_name: native_type,
      card_type_key: type?.key,
      action: stands || leftOut ? 'skip' : 'conflict',
      error_message: stands
        ? null
        : leftOut
          ? `${block.kind === 'about' ? 'tells of the other tool' : 'left out as asked'}: ${some(rows, 'row')}`
          : `stands for no card type, which leaves out ${some(rows, 'row')}: map it, or say that it is left out`,
    };
    if (!stands) return [itself];
    const field = (column: string, more: Partial<NewRecord>): NewRecord => ({
      line: nextLine(),
      entity_kind:
        stands.kind === 'relation' || (migration.source_type === 'leanix' && /^rel[A-Z]/.test(column))
          ? 'metamodel_relation_type'
          : 'metamodel_field',
      source_id: `${native_type}:${column}`,
      source_type: native_type,
      display_name: column,
      card_type_key: type?.key,
      ...more,
    });
    const open = unmapped(one, migration.source_type).map(({ key, values }) =>
      field(key, {
        action: 'conflict',
        error_message: `is not mapped, which leaves out ${some(values, 'value')}: map it, or say that it is left out`,
      }),
    );
    const asked = block.columns
      .filter(({ key, values }) => values > 0 && columns.get(key) === LEFT_OUT)
      .map(({ key, values }) =>
        field(key, { action: 'skip', error_message: `left out as asked: ${some(values, 'value')}` }),
      );
    return [itself, ...open, ...asked];
  });
  await insertRecords(sql, migration.id, records);
}

/** Makes a record of each column that holds values its field does not take, with their number. */
export async function tellLeftOut(
  sql: Knex.Transaction,
  migrationId: string,
  nextLine: () => number,
): Promise<void> {
  const { rows } = await sql.raw(
    `select r.source_type, r.card_type_key, e ->> 'field' as field, e ->> 'code' as code, count(*)::int as n
     from migration_records r cross join jsonb_array_elements(r.left_out) e
     where r.migration_id = ? and r.entity_kind in ('card', 'relation', 'document', 'comment') group by 1, 2, 3, 4 order by 1, 3, 4`,
    [migrationId],
  );
  const records = rows.map(
    (row: {
      source_type: string;
      card_type_key: string;
      field: string;
      code: string;
      n: number;
    }): NewRecord => ({
      line: nextLine(),
      entity_kind: 'metamodel_field',
      source_id: `${row.source_type}:${row.field}:${row.code}`,
      source_type: row.source_type,
      display_name: row.field,
      card_type_key: row.card_type_key,
      action: 'conflict',
      error_message: `${some(row.n, 'value')} left out: ${row.code.replaceAll('_', ' ')}`,
    }),
  );
  await insertRecords(sql, migrationId, records);
}

/** The figures of a migration: records by kind and action, and what became of them. */
export async function countRecords(
  sql: Knex.Transaction,
  migrationId: string,
): Promise<Record<string, unknown>> {
  const { rows } = await sql.raw(
    `select entity_kind, action, status, count(*)::int as n, coalesce(sum(jsonb_array_length(left_out)), 0)::int as left_out,
       (count(*) filter (where action = 'skip' and error_message = ?))::int as archived
     from migration_records where migration_id = ? group by 1, 2, 3 order by 1, 2, 3`,
    [ARCHIVED, migrationId],
  );
  const records: Record<string, Record<string, number>> = {};
  let left = 0;
  let archived = 0;
  for (const { entity_kind, action, status, n, left_out, archived: n_archived } of rows) {
    records[entity_kind] ??= {};
    const counts = records[entity_kind]!;
    counts[action] = (counts[action] ?? 0) + n;
    if (status !== 'pending') counts[status] = (counts[status] ?? 0) + n;
    left += left_out;
    archived += n_archived;
  }
  return { records, values_left_out: left, rows_archived: archived };
}

/** What of the file's model has no place in that of the inventory. */
export function modelDiff(migration: MigrationRow, mapped: readonly MappedBlock[]): Record<string, unknown> {
  return {
    types: mapped.map(({ block, stands, type, leftOut }) => ({
      native_type: block.native_type,
      card_type: type?.key ?? null,
      stands_for: keyOf(stands),
      rows: block.rows,
      left_out: leftOut,
    })),
    unmapped_columns: mapped
      .filter(({ stands }) => stands)
      .flatMap((one) =>
        unmapped(one, migration.source_type).map(({ key, values }) => ({
          native_type: one.block.native_type,
          column: key,
          values,
        })),
      ),
  };
}
