import Type, { type TSchema } from 'typebox';
import { entityKinds, recordActions } from '../../domain/exchange/migration/records.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { listAnswer } from './common.ts';

const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });
const Moment = Nullable(Timestamp);

const optional = (members: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(members).map(([key, schema]) => [key, Type.Optional(schema)]));

export const MigrationSourceSchema = Type.Object(
  optional({ key: Type.String(), label: Type.String(), accepted_extensions: Type.Array(Type.String()) }),
  { $id: 'MigrationSource', ...closed },
);

const status = oneOf(['uploaded', 'parsed', 'previewed', 'applying', 'applied', 'failed', 'aborted']);
const Mappings = Type.Record(
  Type.String({ maxLength: 200 }),
  Type.Record(Type.String({ maxLength: 220 }), Type.String({ maxLength: 250 })),
  {
    description:
      'By kind of thing in the file: targets by column. `$type` names the card type, or what else its rows are; an empty text leaves a column, or all of the kind, out.',
  },
);

const migration = {
  id: Uuid,
  name: Type.String(),
  source_type: Type.String(),
  status,
  file_name: Type.String(),
  file_hash: Type.String(),
  file_size: Nullable(Count),
  include_archived: Type.Boolean(),
  snapshot_version: Text,
  stats: Nullable(OpenObject),
  metamodel_diff: Nullable(OpenObject),
  field_mappings: Nullable(OpenObject),
  error_message: Text,
  job_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  parsed_at: Moment,
  applied_at: Moment,
  created_at: Moment,
  updated_at: Moment,
};
export const MigrationSchema = Type.Object(migration, { $id: 'Migration', ...closed });
/** A migration in a list, which may be cut to some members. */
export const MigrationItemSchema = Type.Object(optional(migration), { $id: 'MigrationItem', ...closed });

export const MigrationRecordSchema = Type.Object(
  optional({
    id: Uuid,
    entity_kind: oneOf(entityKinds),
    source_id: Type.String(),
    source_type: Type.String(),
    card_type_key: Text,
    action: oneOf(recordActions),
    status: oneOf(['pending', 'applied', 'error']),
    diff: Nullable(OpenObject),
    error_message: Text,
    target_id: Nullable(Uuid),
    display_name: Text,
    sheet: Text,
    row: Nullable(Count),
    left_out: Type.Array(
      Type.Object({ field: Type.String(), code: Type.String(), message: Type.String() }, closed),
      { description: 'Values of the row that are not taken over, by column' },
    ),
  }),
  { $id: 'MigrationRecord', ...closed },
);

const page = listAnswer(Type.Ref('MigrationRecord#'));
export const MigrationPreviewPage = Type.Object(
  { ...page.properties, offset: Type.Optional(Count), limit: Type.Optional(Count) },
  closed,
);

export const PreviewFilter = {
  entity_kind: Type.Union(oneOf(entityKinds).anyOf, { default: 'card', description: 'Which kind of record' }),
  card_type_key: Type.Optional(Type.String({ maxLength: 100, description: 'Only those of this card type' })),
  action: Type.Optional(
    Type.Union(oneOf(recordActions).anyOf, { description: 'Only those with this outcome' }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'A multiple of the limit; instead of `page`',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Instead of `page_size`' })),
};

export const FieldMappingsSchema = Type.Object(
  {
    blocks: Type.Array(
      Type.Object(
        {
          native_type: Type.String(),
          target_card_type: Type.String({ description: 'Empty where it stands for none' }),
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
                  description: 'Null: nobody has said; an empty text: left out as asked',
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

export const FieldMappingsBody = Type.Object({ field_mappings: Mappings }, closed);

export const MigrationForm = Type.Object(
  {
    source_key: Type.String({ maxLength: 100, description: 'A key of `GET /migration/sources`' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    file: Type.String({ format: 'binary' }),
    include_archived: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether what is archived in the source comes as well' }),
    ),
  },
  closed,
);
