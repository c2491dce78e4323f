import Type, { type TSchema } from 'typebox';
import {
  DriftEntry,
  FieldMappingInput,
  MappingCreate,
  RelationMappingInput,
  TransformConfig,
} from '../../../domain/exchange/itsm/mappings.input.ts';
import {
  arrayOf,
  Choice,
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';

const {
  connection_id: _,
  is_active,
  schedule: __,
  field_mappings: ___,
  relation_mappings: ____,
  ...set
} = MappingCreate.properties;
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
  ...allPlain(set),
  schedule: Nullable(object({ cron: Type.String(), time_zone: Type.String(), enabled: Type.Boolean() })),
  due_at: Nullable({
    ...Timestamp,
    description:
      'Since when a scheduled run has been deferred until the end of the open run; null: none is deferred',
  }),
  is_active: plain(is_active),
  broken: Nullable(
    Type.String({
      description: 'Why no run can start although the mapping is active; null if runs can start',
    }),
  ),
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

export const ItsmMappingValidationSchema = component('ItsmMappingValidation', {
  valid: Type.Boolean({ description: 'Whether there is no problem of the level `error`' }),
  problems: arrayOf({
    field: Type.String({ description: 'The path of the member of the mapping' }),
    code: Type.String(),
    message: Type.String(),
    level: Choice(['error', 'warning']),
  }),
});

const Reasons = Type.Record(Type.String(), Type.String(), {
  description: 'By field, why its value cannot be converted',
});
const NullableText = Nullable(Type.String());

export const ItsmMappingPreviewSchema = component('ItsmMappingPreview', {
  records: arrayOf({
    remote_id: Type.String(),
    remote_data: { ...OpenObject, description: 'By column' },
    mapped: { ...OpenObject, description: 'By the card’s field' },
    problems: Reasons,
    match: object({
      kind: Choice(
        ['linked', 'link', 'new', 'stage'],
        '`linked`: already paired; `link`: matched by its identity fields; `new`: a new card; `stage`: needs a user’s decision',
      ),
      card_id: Nullable(Uuid),
      card_name: NullableText,
      why: Type.String(),
      candidates: arrayOf({
        card_id: Uuid,
        card_name: NullableText,
        score: Type.Number(),
        why: Type.String(),
      }),
    }),
  }),
  total: Type.Integer({ description: 'The number of returned records' }),
  cards: arrayOf(
    {
      card_id: Uuid,
      card_name: Type.String(),
      mapped: { ...OpenObject, description: 'By column' },
      problems: Reasons,
    },
    { description: 'Cards without a record, as they would be written to the remote' },
  ),
});

const Paths = object({ mapped: Type.Array(Type.String()), unmapped: Type.Array(Type.String()) });
const count = Type.Integer({ minimum: 0 });

export const ItsmMappingCoverageSchema = component('ItsmMappingCoverage', {
  fields: Paths,
  columns: Nullable(Paths),
  cards: object({ total: count, in_filter: count, paired: count }),
  records: object({
    read: Nullable(Type.Integer({ description: 'Records of the last full read' })),
    paired: count,
    outside: Nullable(Type.Integer({ description: 'Records without a card' })),
  }),
  pairs: object({ linked: count, quarantined: count, ended: count, unmapped: count, removed: count }),
  questions: object({ conflict: count, match: count }),
});
