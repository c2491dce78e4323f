import Type, { type Static } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { type SourceBlock, sourceTypes } from './source.types.ts';

const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });

/** Targets by column, by native type. */
export const FieldMappings = Type.Record(
  Type.String({ maxLength: 200 }),
  Type.Record(Type.String({ maxLength: 220 }), Type.String({ maxLength: 250 })),
  {
    description:
      'By native type in the file: targets by column. `$type` is the card type, or another kind of row; an empty text leaves out a column, or all rows of the type.',
    examples: [{ Application: { $type: 'Application', Owner: 'attributes.owner' } }],
  },
);
export type FieldMappings = Static<typeof FieldMappings>;

/** The stored statuses; `failed` and `aborted` follow from the status of the job. */
const storedStatuses = ['uploaded', 'parsed', 'previewed', 'applying', 'applied'] as const;
export const migrationStatuses = [...storedStatuses, 'failed', 'aborted'] as const;
export type MigrationStatus = (typeof migrationStatuses)[number];

export class Migration extends rowModel('migrations', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  source_type: Choice(sourceTypes),
  status: Choice(storedStatuses),
  file_id: Uuid,
  file_name: Type.String(),
  file_hash: Type.String(),
  file_size: Count,
  include_archived: Type.Boolean(),
  snapshot_version: Text,
  blocks: Type.Unsafe<SourceBlock[]>(Type.Array(OpenObject)),
  stats: Nullable(OpenObject),
  metamodel_diff: Nullable(OpenObject),
  field_mappings: Nullable(FieldMappings),
  error_message: Text,
  job_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  parsed_at: Nullable(Timestamp),
  previewed_at: Nullable(Timestamp),
  applied_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type MigrationRow = RowOf<typeof Migration>;

/** Kinds of records, in the order in which they are applied. */
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

export type EntityKind = (typeof entityKinds)[number];

/** What applying a record would do. */
export const recordActions = ['create', 'update', 'skip', 'conflict'] as const;

/** A record that a migration would write, or has written. */
export class MigrationRecord extends rowModel('migration_records', {
  migration_id: Uuid,
  line: Type.Integer(),
  id: Uuid,
  entity_kind: Choice(entityKinds),
  source_id: Type.String(),
  source_type: Type.String(),
  card_type_key: Text,
  display_name: Text,
  action: Choice(recordActions),
  status: Choice(['pending', 'applied', 'error']),
  diff: Nullable(Type.Unsafe<Record<string, { old: unknown; new: unknown }>>(OpenObject)),
  cost_keys: SqlArray(Type.String()),
  error_message: Text,
  target_id: Nullable(Uuid),
  sheet: Text,
  row: Nullable(Count),
  left_out: Nullable(Type.Unsafe<FieldError[]>(Type.Array(OpenObject))),
  payload: Nullable(OpenObject),
  refs: Nullable(Type.Unsafe<object>(OpenObject)),
  path: Text,
  relation_type: Text,
  source_line: Nullable(Type.Integer()),
  source_card: Nullable(Uuid),
  target_line: Nullable(Type.Integer()),
  target_card: Nullable(Uuid),
}) {}
export type MigrationRecordRow = RowOf<typeof MigrationRecord>;
