import Type, { type TSchema } from 'typebox';
import {
  FieldMappingInput,
  MappingCreate,
  TransformConfig,
} from '../../domain/exchange/itsm/mappings.input.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

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
    due_at: Nullable({
      ...Timestamp,
      description:
        'Since when a scheduled run waits for the end of the run that is not over; null: none does',
    }),
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

export const ItsmMappingValidationSchema = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether nothing keeps the mapping from working' }),
    problems: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: 'The member of the mapping' }),
          code: Type.String(),
          message: Type.String(),
          level: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
        },
        closed,
      ),
    ),
  },
  { $id: 'ItsmMappingValidation', ...closed },
);

const Reasons = Type.Record(Type.String(), Type.String(), {
  description: 'Why a value cannot be told on the other side',
});
const NullableText = Nullable(Type.String());

export const ItsmMappingPreviewSchema = Type.Object(
  {
    records: Type.Array(
      Type.Object(
        {
          remote_id: Type.String(),
          remote_data: { ...OpenObject, description: 'By column' },
          mapped: { ...OpenObject, description: 'By the card’s field' },
          problems: Reasons,
          match: Type.Object(
            {
              kind: Type.Union(
                ['linked', 'link', 'new', 'stage'].map((one) => Type.Literal(one)),
                {
                  description:
                    'Known already, found by its identity fields, a new card, or a question for a person',
                },
              ),
              card_id: Nullable(Uuid),
              card_name: NullableText,
              why: Type.String(),
              candidates: Type.Array(
                Type.Object(
                  { card_id: Uuid, card_name: NullableText, score: Type.Number(), why: Type.String() },
                  closed,
                ),
              ),
            },
            closed,
          ),
        },
        closed,
      ),
    ),
    total: Type.Integer({ description: 'How many records are shown' }),
    cards: Type.Array(
      Type.Object(
        {
          card_id: Uuid,
          card_name: Type.String(),
          mapped: { ...OpenObject, description: 'By column' },
          problems: Reasons,
        },
        closed,
      ),
      { description: 'Cards without a record as they would be written outside' },
    ),
  },
  { $id: 'ItsmMappingPreview', ...closed },
);

const Paths = Type.Object({ mapped: Type.Array(Type.String()), unmapped: Type.Array(Type.String()) }, closed);
const count = Type.Integer({ minimum: 0 });

export const ItsmMappingCoverageSchema = Type.Object(
  {
    fields: Paths,
    columns: Nullable(Paths),
    cards: Type.Object({ total: count, in_filter: count, paired: count }, closed),
    records: Type.Object(
      {
        read: Nullable(Type.Integer({ description: 'What the last complete reading has shown' })),
        paired: count,
        outside: Nullable(Type.Integer({ description: 'Without a card' })),
      },
      closed,
    ),
    pairs: Type.Object(
      { linked: count, quarantined: count, ended: count, unmapped: count, removed: count },
      closed,
    ),
    questions: Type.Object({ conflict: count, match: count }, closed),
  },
  { $id: 'ItsmMappingCoverage', ...closed },
);
