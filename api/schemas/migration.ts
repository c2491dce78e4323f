import Type, { type TSchema } from 'typebox';
import {
  FieldMappings,
  Migration,
  migrationColumns,
  migrationFilters,
  migrationSorts,
  migrationStatuses,
  offsetPage,
  recordColumns,
  recordFilters,
  recordSorts,
} from '../../domain/exchange/migration/migration.list.ts';
import { Choice, component, Nullable, object } from '../../domain/kernel/shapes.ts';
import { listAnswer, listQuery } from './common.ts';

const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });

const optional = (members: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(members).map(([key, schema]) => [key, Type.Optional(schema)]));

export const MigrationSourceSchema = component(
  'MigrationSource',
  optional({ key: Type.String(), label: Type.String(), accepted_extensions: Type.Array(Type.String()) }),
);

const migration = { ...migrationColumns, status: Choice(migrationStatuses) };
export const MigrationSchema = component('Migration', migration);
/** A migration in a list, with the requested members. */
export const MigrationItemSchema = component('MigrationItem', optional(migration));

export const MigrationListQuery = listQuery(migrationSorts, 'created_at', migrationFilters);

const MigrationRecordSchema = component(
  'MigrationRecord',
  optional({
    ...recordColumns,
    left_out: Type.Array(object({ field: Type.String(), code: Type.String(), message: Type.String() }), {
      description:
        'Values of mapped columns of the row that are not migrated, by column. A column without a mapping is a separate record of the kind `metamodel_field`',
    }),
  }),
);

const page = listAnswer(MigrationRecordSchema);
export const MigrationPreviewPage = object({
  ...page.properties,
  offset: Type.Optional(Count),
  limit: Type.Optional(Count),
});

export const PreviewQuery = listQuery(recordSorts, 'line', { ...recordFilters, ...offsetPage });

export const FieldMappingsSchema = component('MigrationFieldMappings', {
  blocks: Type.Array(
    object({
      native_type: Type.String(),
      target_card_type: Type.String({ description: 'Empty without a card type' }),
      target_type_label: Type.String(),
      source_fields: Type.Array(
        object({
          source_field_key: Type.String(),
          label: Text,
          native_data_type: Text,
          field_type: Text,
          target_card_type: Type.String(),
          mapped_to: Type.Union([Type.String(), Type.Null()], {
            description: 'Null: not mapped; an empty text: left out on request',
          }),
          values: Type.Integer({ minimum: 0, description: 'Number of cells with a value' }),
        }),
      ),
      available_targets: Type.Array(
        object({ key: Type.String(), label: Type.String(), type: Type.String(), section: Text }),
      ),
    }),
  ),
  auto_mapped_columns: Type.Array(object({ source_column: Type.String(), card_target: Type.String() })),
});

export const FieldMappingsBody = object({ field_mappings: FieldMappings });

export const MigrationForm = object({
  source_key: Type.String({ maxLength: 100, description: 'A key of `GET /migration/sources`' }),
  name: Migration.columns.name,
  file: Type.String({ format: 'binary' }),
  include_archived: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to include objects that are archived in the source',
    }),
  ),
});
