import Type, { type TSchema } from 'typebox';
import {
  migrationColumns,
  migrationFilters,
  migrationSorts,
  offsetPage,
  recordColumns,
  recordFilters,
  recordSorts,
} from '../../domain/exchange/migration/migration.list.ts';
import {
  FieldMappings,
  Migration,
  migrationStatuses,
} from '../../domain/exchange/migration/migration.model.ts';
import { Choice, closed, Nullable } from '../../domain/kernel/shapes.ts';
import { listAnswer, listQuery } from './common.ts';

const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });

const optional = (members: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(members).map(([key, schema]) => [key, Type.Optional(schema)]));

export const MigrationSourceSchema = Type.Object(
  optional({ key: Type.String(), label: Type.String(), accepted_extensions: Type.Array(Type.String()) }),
  { $id: 'MigrationSource', ...closed },
);

const migration = { ...migrationColumns, status: Choice(migrationStatuses) };
export const MigrationSchema = Type.Object(migration, { $id: 'Migration', ...closed });
/** A migration in a list, which may be cut to some members. */
export const MigrationItemSchema = Type.Object(optional(migration), { $id: 'MigrationItem', ...closed });

export const MigrationListQuery = listQuery(migrationSorts, 'created_at', migrationFilters);

export const MigrationRecordSchema = Type.Object(
  optional({
    ...recordColumns,
    left_out: Type.Array(
      Type.Object({ field: Type.String(), code: Type.String(), message: Type.String() }, closed),
      {
        description:
          'Values of mapped columns of the row that are not migrated, by column. A column without a mapping is a record of its own, of the kind `metamodel_field`',
      },
    ),
  }),
  { $id: 'MigrationRecord', ...closed },
);

const page = listAnswer(MigrationRecordSchema);
export const MigrationPreviewPage = Type.Object(
  { ...page.properties, offset: Type.Optional(Count), limit: Type.Optional(Count) },
  closed,
);

export const PreviewQuery = listQuery(recordSorts, 'line', { ...recordFilters, ...offsetPage });

export const FieldMappingsSchema = Type.Object(
  {
    blocks: Type.Array(
      Type.Object(
        {
          native_type: Type.String(),
          target_card_type: Type.String({ description: 'Empty without a card type' }),
          target_type_label: Type.String(),
          source_fields: Type.Array(
            Type.Object(
              {
                source_field_key: Type.String(),
                label: Text,
                native_data_type: Text,
                field_type: Text,
                target_card_type: Type.String(),
                mapped_to: Type.Union([Type.String(), Type.Null()], {
                  description: 'Null: not mapped; an empty text: left out on request',
                }),
                values: Type.Integer({ minimum: 0, description: 'Cells that are not empty' }),
              },
              closed,
            ),
          ),
          available_targets: Type.Array(
            Type.Object(
              { key: Type.String(), label: Type.String(), type: Type.String(), section: Text },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    auto_mapped_columns: Type.Array(
      Type.Object({ source_column: Type.String(), card_target: Type.String() }, closed),
    ),
  },
  { $id: 'MigrationFieldMappings', ...closed },
);

export const FieldMappingsBody = Type.Object({ field_mappings: FieldMappings }, closed);

export const MigrationForm = Type.Object(
  {
    source_key: Type.String({ maxLength: 100, description: 'A key of `GET /migration/sources`' }),
    name: Migration.columns.name,
    file: Type.String({ format: 'binary' }),
    include_archived: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to include what is archived in the source' }),
    ),
  },
  closed,
);
