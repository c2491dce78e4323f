import Type, { type Static } from 'typebox';
import { Choice, OpenObject, object } from '../shapes.ts';

/** The field types that a card type or relation type may declare. */
export const fieldTypes = [
  'text',
  'multiline_text',
  'number',
  'cost',
  'boolean',
  'date',
  'url',
  'single_select',
  'multiple_select',
] as const;

export type FieldType = (typeof fieldTypes)[number];

export const lifecyclePhases = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'] as const;
export type LifecyclePhase = (typeof lifecyclePhases)[number];

export const cardinalities = ['1:1', '1:n', 'n:m'] as const;
export type Cardinality = (typeof cardinalities)[number];

export type Translations = Record<string, unknown>;

const labelled = { key: Type.String(), label: Type.String(), translations: Type.Optional(OpenObject) };

const OptionSchema = object({ ...labelled, color: Type.Optional(Type.String()) });
export type FieldOption = Static<typeof OptionSchema>;

const FieldSchema = object({
  ...labelled,
  type: Choice(fieldTypes),
  weight: Type.Number({ description: 'Share in the data quality; 0 does not count' }),
  required: Type.Optional(Type.Boolean()),
  readonly: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Array(OptionSchema)),
});
export type Field = Static<typeof FieldSchema>;

/** A section of a card type's fields. */
export const SectionSchema = object({
  section: Type.String(),
  fields: Type.Array(FieldSchema),
  translations: Type.Optional(OpenObject),
  columns: Type.Optional(Type.Integer()),
  groups: Type.Optional(Type.Array(Type.String())),
});
export type Section = Static<typeof SectionSchema>;

export const SubtypeSchema = object({
  ...labelled,
  hidden_fields: Type.Optional(Type.Array(Type.String())),
});
export type Subtype = Static<typeof SubtypeSchema>;

export const AttributeSchema = object({
  ...labelled,
  type: Choice(fieldTypes),
  options: Type.Optional(
    Type.Array(
      object({
        ...OptionSchema.properties,
        built_in: Type.Optional(Type.Boolean()),
        is_hidden: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
  built_in: Type.Optional(Type.Boolean()),
});
/** A field of a relation type. */
export type RelationAttribute = Static<typeof AttributeSchema>;

/** The parts of the data quality that a card can have. */
export type QualityBucket = 'description' | 'lifecycle' | 'relations' | 'tags' | 'stakeholders';

export interface SectionConfig {
  /** Weights of the parts of the data quality. */
  __dataQuality?: Partial<Record<QualityBucket, number>>;
  [section: string]: unknown;
}

export interface CardTypeSeed {
  key: string;
  label: string;
  description: string;
  category: string;
  color: string;
  icon: string;
  sort_order: number;
  has_hierarchy: boolean;
  has_successors: boolean;
  subtypes: { key: string; label: string }[];
  fields_schema: Section[];
  stakeholder_roles: { key: string; label: string }[];
}

export interface RelationTypeSeed {
  key: string;
  source_type_key: string;
  target_type_key: string;
  cardinality: Cardinality;
  label: string;
  reverse_label: string;
  sort_order: number;
  attributes_schema: RelationAttribute[];
}
