import Type from 'typebox';
import { Internal, type RowOf, rowModel } from '../resources/rows.ts';
import { BooleanOf, Choice, Color, Key, Nullable, OpenObject, Timestamp, Uuid } from '../shapes.ts';
import {
  AttributeSchema,
  cardinalities,
  DeprecationSchema,
  line,
  NumberPrefix,
  type SectionConfig,
  SectionSchema,
  SubtypeSchema,
} from './metamodel.types.ts';

const Description = Nullable(Type.String({ maxLength: 10_000 }));
const SortOrder = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const definition = { key: Type.String(), label: Type.String(), description: Description };
const presentation = { is_hidden: Type.Boolean(), sort_order: SortOrder, translations: OpenObject };
const deprecation = Nullable(DeprecationSchema);
const timestamps = { created_at: Timestamp, updated_at: Timestamp };
const internalTimestamps = { created_at: Internal(Timestamp), updated_at: Internal(Timestamp) };

/** The definition of a card type. */
export class CardTypeDefinition extends rowModel('card_types', {
  ...definition,
  number_prefix: NumberPrefix,
  icon: line(100),
  color: Color,
  category: Nullable(line(100)),
  has_hierarchy: Type.Boolean(),
  has_successors: Type.Boolean(),
  has_data_flows: BooleanOf('Whether data can flow between cards of the type'),
  allow_same_name: BooleanOf('Whether cards below one parent may share a name if each has an external id'),
  subtypes: Type.Array(SubtypeSchema),
  fields_schema: Type.Array(SectionSchema),
  section_config: Type.Unsafe<SectionConfig>(OpenObject),
  built_in: Type.Boolean(),
  deprecation,
  ...presentation,
  ...internalTimestamps,
}) {}
export type CardTypeRow = RowOf<typeof CardTypeDefinition>;

/** The definition of a relation type. */
export class RelationTypeDefinition extends rowModel('relation_types', {
  ...definition,
  reverse_label: Nullable(Type.String({ maxLength: 200 })),
  source_type_key: Type.String(),
  target_type_key: Type.String(),
  cardinality: Choice(cardinalities),
  attributes_schema: Type.Array(AttributeSchema),
  source_visible: Type.Boolean(),
  source_mandatory: Type.Boolean(),
  target_visible: Type.Boolean(),
  target_mandatory: Type.Boolean(),
  built_in: Type.Boolean(),
  deprecation,
  ...presentation,
  ...internalTimestamps,
}) {}
export type RelationTypeRow = RowOf<typeof RelationTypeDefinition>;

/** The definition of a stakeholder role of a card type. */
export class StakeholderRoleDefinition extends rowModel('stakeholder_role_definitions', {
  id: Uuid,
  card_type_key: Type.String(),
  ...definition,
  color: Color,
  permissions: Type.Record(Type.String(), Type.Boolean()),
  is_archived: Type.Boolean(),
  sort_order: SortOrder,
  translations: OpenObject,
  ...timestamps,
  archived_at: Nullable(Timestamp),
  archived_by: Nullable(Uuid),
}) {}
export type StakeholderRoleRow = RowOf<typeof StakeholderRoleDefinition>;

/** The maximum length of the name of a tag or tag group. */
export const MAX_TAG_NAME = 200;

export class TagGroup extends rowModel('tag_groups', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: MAX_TAG_NAME }),
  description: Nullable(Type.String({ maxLength: 2000 })),
  mode: Choice(['single', 'multi']),
  mandatory: BooleanOf('Whether cards need a tag of it for approval and full data quality'),
  restrict_to_types: Nullable(Type.Array(Key, { maxItems: 200, uniqueItems: true })),
  ...timestamps,
}) {}
export type TagGroupRow = RowOf<typeof TagGroup>;
