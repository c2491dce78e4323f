import Type, { type Static, type TSchema } from 'typebox';
import { closed } from '../../kernel/shapes.ts';

const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const key = (description: string) => Type.String({ minLength: 1, maxLength: 100, description });
const uuid = Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' });

const single = [Type.Null(), Type.String({ maxLength: 4000 }), Type.Number(), Type.Boolean()] as const;
const Single = Type.Union([...single]);
const Value = Type.Union([...single, Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1000 })]);
const formula = Type.String({ minLength: 1, maxLength: 5000 });

/** What transforms are told; which members belong to which is checked with the field named. */
export const TransformConfig = Type.Object(
  {
    as: Type.Optional(
      Type.Literal('number', { description: 'direct: the value is a number; follows from the card’s field' }),
    ),
    pairs: Type.Optional(
      Type.Array(Type.Object({ remote: Single, local: Value }, closed), {
        minItems: 1,
        maxItems: 1000,
        description: 'value_map: what means what; the first pair that has a value is taken, on either way',
      }),
    ),
    remote: Type.Optional(
      Type.Union([Type.Literal('date'), Type.Literal('datetime')], {
        description: 'date_format: what the column holds; `date` unless given',
      }),
    ),
    yes: Type.Optional(
      Type.Array(Single, {
        minItems: 1,
        maxItems: 50,
        description: 'boolean: what means true, the first is written; `["true", "1"]` unless given',
      }),
    ),
    no: Type.Optional(
      Type.Array(Single, {
        minItems: 1,
        maxItems: 50,
        description: 'boolean: what means false, the first is written; `["false", "0"]` unless given',
      }),
    ),
    mapping_id: Type.Optional(
      nullable(uuid, 'reference: the mapping of the cards that are referred to; null: this one'),
    ),
    to_local: Type.Optional(
      Type.String({ ...formula, description: 'expression: a formula over `value`, the column’s value' }),
    ),
    to_remote: Type.Optional(
      nullable(formula, 'expression: the same for the way out; null: never written there'),
    ),
  },
  closed,
);
export type TransformConfig = Static<typeof TransformConfig>;

export const FieldMappingInput = Type.Object(
  {
    card_field: Type.String({
      minLength: 1,
      maxLength: 200,
      examples: ['name', 'attributes.businessCriticality'],
      description:
        '`name`, `alias`, `description`, `external_id`, `subtype`, `parent_id`, `lifecycle.<phase>`, `attributes.<key>`; for a column that refers to a record also `relations.<relation type>` (from the card) or `reverse_relations.<relation type>` (to it)',
    }),
    remote_field: key('The column of the table'),
    direction: Type.Optional(
      Type.Union(
        (['remote_leads', 'local_leads', 'newest_wins', 'manual'] as const).map((one) => Type.Literal(one)),
        {
          description:
            'Who wins when both sides have changed; what one side alone has changed goes to the other. `remote_leads` unless given',
        },
      ),
    ),
    transform_type: Type.Optional(
      nullable(
        Type.Union(
          (['direct', 'value_map', 'date_format', 'boolean', 'reference', 'expression'] as const).map((one) =>
            Type.Literal(one),
          ),
        ),
        'How the value is told on the other side; null: direct',
      ),
    ),
    transform_config: Type.Optional(nullable(TransformConfig, 'What the transform needs to be told')),
    is_identity: Type.Optional(
      Type.Boolean({ description: 'Takes part in telling which record is which card' }),
    ),
  },
  closed,
);
export type FieldMappingInput = Static<typeof FieldMappingInput>;

export const RelationMappingInput = Type.Object(
  {
    relation_type_key: key('A relation type whose source is the mapped card type'),
    remote_type: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The remote’s key of the kind of relation',
    }),
    target_mapping_id: Type.Optional(
      nullable(uuid, 'The mapping of the cards at the target, of the same connection; null: this one'),
    ),
    reversed: Type.Optional(
      Type.Boolean({ description: 'The remote tells it from the target: its parent is our target' }),
    ),
  },
  closed,
);
export type RelationMappingInput = Static<typeof RelationMappingInput>;

export const MappingSchedule = Type.Object(
  {
    cron: Type.String({ minLength: 1, maxLength: 200, examples: ['*/15 * * * *'] }),
    time_zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        examples: ['Europe/Berlin'],
        description: 'UTC unless given',
      }),
    ),
    enabled: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type MappingSchedule = Static<typeof MappingSchedule>;

const Defaults = (description: string, value: TSchema) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 200 }), value, { maxProperties: 100, description });

const settings = {
  sync_direction: Type.Union(
    (['pull', 'push', 'bidirectional'] as const).map((one) => Type.Literal(one)),
    { description: 'On which side may be written: here, at the remote, on both' },
  ),
  sync_mode: Type.Union(
    (['additive', 'conservative', 'strict'] as const).map((one) => Type.Literal(one)),
    {
      description:
        'What is removed when the other side is gone: nothing, what the synchronisation has made, all',
    },
  ),
  max_deletions: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Removals that one run may plan',
  }),
  max_deletion_ratio: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The same as a part of all mapped pairs',
  }),
  quarantine_minutes: Type.Integer({
    minimum: 0,
    maximum: 525_600,
    description: 'How long the other half of what is gone waits before it is removed',
  }),
  complete_reads: Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      'After how many complete readings without it a record counts as gone; 0: never by that alone',
  }),
  filter_query: nullable(
    Type.String({ maxLength: 4000 }),
    'Which records, in the remote’s own language; null: all of the table',
  ),
  card_filter: nullable(
    Type.String({ maxLength: 4000 }),
    'Which cards, in the filter language; null: all of the type',
  ),
  card_defaults: Defaults('What new cards hold beside the mapped values, by field', Value),
  record_defaults: Defaults('What new records hold beside the mapped values, by column', Single),
  auto_apply: Type.Boolean({ description: 'Whether plans are applied without anybody’s look' }),
  skip_staging: Type.Boolean({ description: 'Another name of `auto_apply`', deprecated: true }),
  auto_apply_max_changes: nullable(
    Type.Integer({ minimum: 0, maximum: 10_000_000 }),
    'A plan with more changes waits for a person all the same; null: however many',
  ),
  auto_apply_max_ratio: nullable(
    Type.Number({ minimum: 0, maximum: 1 }),
    'The same as a part of all mapped pairs; null: whatever part',
  ),
  complete_every_hours: Type.Integer({
    minimum: 1,
    maximum: 8760,
    description: 'A run reads all when the last complete reading is older, else what has changed',
  }),
  follows_changes: Type.Boolean({ description: 'A change in the inventory starts a run within seconds' }),
  schedule: nullable(MappingSchedule, 'When it runs by itself; null: never'),
  is_active: Type.Boolean({ description: 'False: paused, no run begins' }),
  field_mappings: Type.Array(FieldMappingInput, { maxItems: 200 }),
  relation_mappings: Type.Array(RelationMappingInput, { maxItems: 50 }),
} satisfies Record<string, TSchema>;

const identity = {
  card_type_key: key('The card type'),
  remote_table: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[A-Za-z][A-Za-z0-9_./-]*$',
    examples: ['cmdb_ci_business_app'],
    description: 'The table at the remote',
  }),
};

export const MappingCreate = Type.Object(
  { connection_id: uuid, ...identity, ...Type.Partial(Type.Object(settings)).properties },
  closed,
);
export type MappingCreate = Static<typeof MappingCreate>;

export const MappingPatch = Type.Object(
  Type.Partial(Type.Object({ ...identity, ...settings })).properties,
  closed,
);
export type MappingPatch = Static<typeof MappingPatch>;
