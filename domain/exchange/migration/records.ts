import type { Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';

/** Kinds of records, in the order in which they are carried out. */
export const entityKinds = [
  'metamodel_type',
  'metamodel_field',
  'metamodel_relation_type',
  'user',
  'tag_group',
  'tag',
  'card',
  'relation',
  'subscription',
  'document',
  'comment',
  'card_tag',
] as const;
type EntityKind = (typeof entityKinds)[number];

/** What carrying a record out would do. */
export const recordActions = ['create', 'update', 'skip', 'conflict'] as const;
type RecordAction = (typeof recordActions)[number];

/** A record while it is made; members that are absent are null. */
export interface NewRecord {
  line: number;
  entity_kind: EntityKind;
  source_id: string;
  source_type: string;
  action?: RecordAction;
  card_type_key?: string;
  display_name?: string;
  error_message?: string | null;
  sheet?: string;
  row?: number;
  left_out?: FieldError[] | null;
  payload?: Record<string, unknown> | null;
  refs?: object | null;
  path?: string | null;
  diff?: Record<string, { old: unknown; new: unknown }> | null;
  relation_type?: string;
  source_line?: number | null;
  source_card?: string | null;
  target_line?: number | null;
  target_card?: string | null;
}

/** Why a row is skipped that the source has archived, unless the upload asks for such rows. */
export const ARCHIVED = 'is archived in the source';

const columns = `line integer, entity_kind text, source_id text, source_type text, action text, card_type_key text,
  display_name text, error_message text, sheet text, "row" integer, left_out jsonb, payload jsonb, refs jsonb, path text,
  relation_type text, diff jsonb, source_line integer, source_card uuid, target_line integer, target_card uuid`;
const names = columns.split(',').map((column) => column.trim().split(' ')[0]);
/** Names of things that are too long to be one are cut in what is shown. */
const MAX_SHOWN = 500;

const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text);

/** Writes records in one statement. */
export async function insertRecords(sql: Sql, migrationId: string, records: NewRecord[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => ({
    ...record,
    action: record.action ?? 'create',
    source_id: shown(record.source_id),
    ...(record.display_name === undefined ? {} : { display_name: shown(record.display_name) }),
  }));
  await sql.raw(
    `insert into migration_records (migration_id, ${names.join(', ')})
     select ?::uuid, ${names.map((name) => `v.${name}`).join(', ')} from jsonb_to_recordset(?::jsonb) as v(${columns})`,
    [migrationId, JSON.stringify(rows)],
  );
}

/** Removes the records of a migration. */
export async function removeRecords(sql: Sql, migrationId: string): Promise<void> {
  await sql('migration_records').where({ migration_id: migrationId }).delete();
}
