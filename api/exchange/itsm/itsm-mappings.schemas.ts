import Type, { type TSchema } from 'typebox';
import {
  DriftEntry,
  FieldMappingInput,
  MappingCreate,
  mappingColumns,
  RelationMappingInput,
  TransformConfig,
} from '../../../domain/exchange/itsm/mappings.input.ts';
import {
  arrayOf,
  itemComponent,
  Nullable,
  NullableText,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';

const { connection_id: _, is_active, ...settings } = mappingColumns;
/** A member of the input as a member of responses: always present. */
const plain = (schema: TSchema): TSchema => {
  const { '~optional': _optional, ...rest } = schema as TSchema & { '~optional'?: boolean };
  return rest as TSchema;
};
const allPlain = (members: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, plain(schema)]));

export const ItsmMappingSchema = itemComponent('ItsmMapping', {
  id: Uuid,
  connection_id: Uuid,
  connection_name: Type.String(),
  ...allPlain(settings),
  skip_staging: plain(MappingCreate.properties.skip_staging),
  schedule: Nullable(object({ cron: Type.String(), time_zone: Type.String(), enabled: Type.Boolean() })),
  due_at: Nullable({
    ...Timestamp,
    description:
      'Since when a scheduled run has been deferred until the end of the open run; null: none is deferred',
  }),
  is_active: plain(is_active),
  broken: NullableText('Why no run can start although the mapping is active; null if runs can start'),
  dictionary_at: Nullable(Timestamp),
  drift: Type.Array(DriftEntry, {
    description: 'Changes of the remote’s dictionary since the mapping was validated',
  }),
  field_mappings: arrayOf({
    id: Type.String({ description: 'Changes with each update of the rows' }),
    ...allPlain(FieldMappingInput.properties),
    transform_type: Type.String(),
    transform_config: TransformConfig,
  }),
  relation_mappings: arrayOf(allPlain(RelationMappingInput.properties)),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
});
