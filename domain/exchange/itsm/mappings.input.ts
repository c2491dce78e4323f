import Type, { type Static, type TSchema } from 'typebox';
import {
  arrayOf,
  BooleanOf,
  Choice,
  FilledText,
  IntegerIn,
  itemsIn,
  keyed,
  NumberIn,
  object,
  optional,
  partialObject,
} from '../../kernel/shapes.ts';

const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const key = (description: string) => Type.String({ minLength: 1, maxLength: 100, description });
const uuid = Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' });

const single = [Type.Null(), Type.String({ maxLength: 4000 }), Type.Number(), Type.Boolean()] as const;
const Single = Type.Union([...single]);
const Value = Type.Union([...single, Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1000 })]);
const formula = Type.String({ minLength: 1, maxLength: 5000 });

/** The configuration of a transform. Each member is for the transform type that its description names; commands check that. */
export const TransformConfig = partialObject({
  as: Type.Literal('number', {
    description: 'direct: the value is a number; default: by the type of the card’s field',
  }),
  pairs: arrayOf(
    { remote: Single, local: Value },
    itemsIn(
      1,
      1000,
      'value_map: corresponding values; in both directions the first pair with the value applies',
    ),
  ),
  remote: Choice(['date', 'datetime'], 'date_format: the type of the column; default: `date`'),
  yes: Type.Array(
    Single,
    itemsIn(1, 50, 'boolean: the values for true, of which the first is written; default: `["true", "1"]`'),
  ),
  no: Type.Array(
    Single,
    itemsIn(1, 50, 'boolean: the values for false, of which the first is written; default: `["false", "0"]`'),
  ),
  mapping_id: nullable(uuid, 'reference: the mapping of the referenced cards; null: this mapping'),
  to_local: Type.String({
    ...formula,
    description: 'expression: a formula that computes the card’s value from `value`, the column’s value',
  }),
  to_remote: nullable(
    formula,
    'expression: a formula that computes the column’s value from `value`, the card’s value; null: the column is never written',
  ),
});
export type TransformConfig = Static<typeof TransformConfig>;

export const FieldMappingInput = object({
  card_field: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: ['name', 'attributes.businessCriticality'],
    description:
      '`name`, `alias`, `description`, `external_id`, `subtype`, `parent_id`, `lifecycle.<phase>`, `attributes.<key>`; for a reference column also `relations.<relation type>` (the card is the source) or `reverse_relations.<relation type>` (the card is the target)',
  }),
  remote_field: key('The column of the table'),
  ...optional({
    direction: Choice(
      ['remote_leads', 'local_leads', 'newest_wins', 'manual'],
      'Which side wins when both have changed; a change of only one side is copied to the other. Default: `remote_leads`',
    ),
    transform_type: nullable(
      Type.Union(
        (['direct', 'value_map', 'date_format', 'boolean', 'reference', 'expression'] as const).map((one) =>
          Type.Literal(one),
        ),
      ),
      'How values are converted between the two sides; null: direct',
    ),
    transform_config: nullable(TransformConfig, 'The configuration of the transform'),
    is_identity: BooleanOf('Whether the field is used to match records with cards'),
  }),
});
export type FieldMappingInput = Static<typeof FieldMappingInput>;

export const RelationMappingInput = object({
  relation_type_key: key('A relation type whose source is the mapped card type'),
  remote_type: FilledText(200, 'The remote’s key of the relation type'),
  ...optional({
    target_mapping_id: nullable(
      uuid,
      'The mapping of the target cards, of the same connection; null: this mapping',
    ),
    reversed: BooleanOf('Whether the remote stores the opposite direction: its parent is our target'),
  }),
});
export type RelationMappingInput = Static<typeof RelationMappingInput>;

export const MappingSchedule = object({
  cron: Type.String({ minLength: 1, maxLength: 200, examples: ['*/15 * * * *'] }),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      examples: ['Europe/Berlin'],
      description: 'Default: UTC',
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
});
export type MappingSchedule = Static<typeof MappingSchedule>;

const Defaults = (description: string, value: TSchema) =>
  keyed(200, value, { maxProperties: 100, description });

const settings = {
  sync_direction: Choice(
    ['pull', 'push', 'bidirectional'],
    'Which sides runs write to: the inventory, the remote, or both',
  ),
  sync_mode: Choice(
    ['additive', 'conservative', 'strict'],
    'What is removed when the other side is deleted: nothing, what the synchronisation has created, everything',
  ),
  max_deletions: IntegerIn(0, 1_000_000, 'The deletion limit: removals that one run may plan'),
  max_deletion_ratio: NumberIn(0, 1, 'The deletion limit as a fraction of all pairs of the mapping'),
  quarantine_minutes: IntegerIn(
    0,
    525_600,
    'Minutes between the detection of a deletion and the removal on the other side',
  ),
  complete_reads: IntegerIn(
    0,
    100,
    'The number of full reads without a record after which it counts as deleted; 0: a missing record never counts as deleted',
  ),
  filter_query: nullable(
    Type.String({ maxLength: 4000 }),
    'Which records are synchronised, in the query language of the remote; null: all of the table',
  ),
  card_filter: nullable(
    Type.String({ maxLength: 4000 }),
    'Which cards are synchronised, in the filter language; null: all of the type',
  ),
  card_defaults: Defaults('Values of new cards in addition to the mapped ones, by field', Value),
  record_defaults: Defaults('Values of new records in addition to the mapped ones, by column', Single),
  auto_apply: BooleanOf('Whether plans are applied without review'),
  skip_staging: Type.Boolean({ description: 'Alias of `auto_apply`', deprecated: true }),
  auto_apply_max_changes: nullable(
    Type.Integer({ minimum: 0, maximum: 10_000_000 }),
    'A plan with more changes needs review despite `auto_apply`; null: no limit',
  ),
  auto_apply_max_ratio: nullable(
    Type.Number({ minimum: 0, maximum: 1 }),
    '`auto_apply_max_changes` as a fraction of all pairs of the mapping; null: no limit',
  ),
  complete_every_hours: IntegerIn(
    1,
    8760,
    'A run reads all records if the last full read is older, otherwise only the changed ones',
  ),
  follows_changes: BooleanOf('Whether a change in the inventory starts a run within seconds'),
  schedule: nullable(MappingSchedule, 'When runs start on a schedule; null: never'),
  is_active: BooleanOf('False: paused, no run starts'),
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

export const MappingCreate = object({
  connection_id: uuid,
  ...identity,
  ...Type.Partial(Type.Object(settings)).properties,
});
export type MappingCreate = Static<typeof MappingCreate>;

const { schedule, skip_staging, field_mappings, relation_mappings, ...columns } = MappingCreate.properties;

/** The columns of a mapping that users set. */
export const mappingColumns = columns;

export const MappingPatch = partialObject({ ...identity, ...settings });
export type MappingPatch = Static<typeof MappingPatch>;

/** A change of the remote's dictionary since the last validation. */
export const DriftEntry = object({
  column: Type.String(),
  change: Choice(['vanished', 'kind', 'reference', 'max_length', 'mandatory', 'choices', 'table']),
  stops: BooleanOf('The mapped field is neither read nor written until the mapping is validated again'),
  message: Type.String(),
});
export type DriftEntry = Static<typeof DriftEntry>;
