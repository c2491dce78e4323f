import Type, { type TSchema } from 'typebox';
import { FieldMappingInput, MappingCreate, TransformConfig } from '../../domain/itsm/mappings.input.ts';
import { closed, Nullable, Timestamp, Uuid } from './common.ts';

const {
  connection_id: _,
  is_active,
  schedule: __,
  field_mappings: ___,
  relation_mappings: ____,
  ...set
} = MappingCreate.properties;
/** Members of the input as answers have them: never missing, but where `fields` cuts them. */
const plain = (schema: TSchema): TSchema => {
  const { '~optional': _optional, ...rest } = schema as TSchema & { '~optional'?: boolean };
  return rest as TSchema;
};
const members = Object.fromEntries(Object.entries(set).map(([name, schema]) => [name, plain(schema)]));

const { direction } = FieldMappingInput.properties;

export const ItsmMappingSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    connection_id: Uuid,
    connection_name: Type.String(),
    ...members,
    schedule: Nullable(
      Type.Object({ cron: Type.String(), time_zone: Type.String(), enabled: Type.Boolean() }, closed),
    ),
    is_active: plain(is_active),
    broken: Nullable(
      Type.String({ description: 'Why no run can begin, though the mapping is active; null when one can' }),
    ),
    dictionary_at: Nullable(Timestamp),
    drift: Type.Array(
      Type.Object(
        {
          column: Type.String(),
          change: Type.Union(
            ['vanished', 'kind', 'reference', 'max_length', 'mandatory', 'choices', 'table'].map((one) =>
              Type.Literal(one),
            ),
          ),
          stops: Type.Boolean({
            description: 'The mapped field is neither read nor written until the mapping is validated again',
          }),
          message: Type.String(),
        },
        closed,
      ),
      { description: 'What has changed in the remote’s dictionary since the mapping was validated' },
    ),
    field_mappings: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Another one after each change of the rows' }),
          card_field: Type.String(),
          remote_field: Type.String(),
          direction: plain(direction),
          transform_type: Type.String(),
          transform_config: TransformConfig,
          is_identity: Type.Boolean(),
        },
        closed,
      ),
    ),
    relation_mappings: Type.Array(
      Type.Object(
        {
          relation_type_key: Type.String(),
          remote_type: Type.String(),
          target_mapping_id: Nullable(Uuid),
          reversed: Type.Boolean(),
        },
        closed,
      ),
    ),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  { $id: 'ItsmMapping', ...closed },
);
