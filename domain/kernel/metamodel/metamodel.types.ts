import Type, { type Static, type TSchema } from 'typebox';
import { Choice, DateOnly, OptionalFlag, object } from '../shapes.ts';

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

/** A non-blank text on one line. */
export const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
export const Label = line(200);
export const TranslationsSchema = Type.Unsafe<Translations>(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Record(Type.String(), Type.String())]), {
    description:
      'Texts by member and language, or by language for the label alone. Tags as in RFC 5646, such as `de` or `pt-BR`.',
    examples: [{ label: { de: 'Anwendung' } }],
  }),
);

/** Keys are used in URLs, columns and formulas. */
export const TypeKey = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$',
  examples: ['dataCentre'],
});
export const NumberPrefix = Type.String({
  pattern: '^[A-Z]{2,5}$',
  examples: ['APP'],
  description: 'With which the numbers of new cards begin; no other type has it',
});
export const RoleKey = Type.String({
  pattern: '^[a-z][a-z0-9_]{1,48}[a-z0-9]$',
  examples: ['data_steward'],
});
export const FieldTypeName = Choice(fieldTypes);

/** That a type, a field or an option is going to be removed. */
export const DeprecationSchema = object({
  since: Type.Optional(Type.String({ ...DateOnly, description: 'Default: the day on which it is set' })),
  removal: Type.String({
    ...DateOnly,
    description: 'From this day on it may be removed although consumers use it; later than today',
  }),
  note: Type.Optional(line(500)),
  successor: Type.Optional(Type.String({ ...line(200), description: 'What to use instead' })),
});
export type Deprecation = Static<typeof DeprecationSchema>;
const deprecation = Type.Optional(DeprecationSchema);

const translations = Type.Optional(TranslationsSchema);
const option = {
  key: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$', examples: ['critical'] }),
  label: Label,
  translations,
};
const Color = Type.Optional(Type.String({ maxLength: 50, pattern: '^#[0-9a-fA-F]{3,8}$|^[a-z]+$' }));

/** Former keys of a part, by which callers may still name it. */
const aliasesOf = <T extends TSchema>(key: T) =>
  Type.Array(object({ key, deprecation: DeprecationSchema }), {
    maxItems: 10,
    description: 'Former keys, which requests may name until their removal; a rename adds one',
    examples: [[{ key: 'old', deprecation: { since: '2026-02-03', removal: '2026-08-03' } }]],
  });
/** The former keys of a type. */
const TypeAliases = aliasesOf(TypeKey);
export type Alias = { key: string; deprecation: Deprecation };

const OptionSchema = object({
  ...option,
  color: Color,
  deprecation,
  aliases: Type.Optional(aliasesOf(option.key)),
});
export type FieldOption = Static<typeof OptionSchema>;
const optionsOf = <T extends TSchema>(item: T) => Type.Optional(Type.Array(item, { maxItems: 1_000 }));
const BuiltIn = OptionalFlag('Read-only');

const FieldSchema = object({
  key: TypeKey,
  label: Label,
  type: FieldTypeName,
  weight: Type.Number({ minimum: 0, maximum: 1_000, default: 1, description: 'Share in the data quality' }),
  required: Type.Optional(Type.Boolean()),
  readonly: Type.Optional(Type.Boolean()),
  options: optionsOf(OptionSchema),
  translations,
  deprecation,
  aliases: Type.Optional(TypeAliases),
});
export type Field = Static<typeof FieldSchema>;

/** A section of a card type's fields. */
export const SectionSchema = object({
  section: line(100),
  fields: Type.Array(FieldSchema, { maxItems: 500 }),
  translations,
  columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
  groups: Type.Optional(Type.Array(line(100), { maxItems: 50 })),
});
export type Section = Static<typeof SectionSchema>;

export const SubtypeSchema = object({
  ...option,
  hidden_fields: Type.Optional(Type.Array(TypeKey, { maxItems: 500 })),
});
export type Subtype = Static<typeof SubtypeSchema>;

export const AttributeSchema = object({
  key: TypeKey,
  label: Label,
  type: FieldTypeName,
  options: optionsOf(
    object({
      ...option,
      color: Color,
      built_in: BuiltIn,
      is_hidden: Type.Optional(Type.Boolean()),
      deprecation,
      aliases: Type.Optional(aliasesOf(option.key)),
    }),
  ),
  built_in: BuiltIn,
  translations,
  deprecation,
});
/** A field of a relation type. */
export type RelationAttribute = Static<typeof AttributeSchema>;

/** The permissions of a stakeholder role. */
export const CardPermissions = Type.Record(Type.String(), Type.Boolean(), {
  description: 'Card permissions by key; omitted permissions are not granted',
});

/** The parts of the data quality that a card can have. */
export type QualityBucket = 'description' | 'lifecycle' | 'relations' | 'tags' | 'stakeholders';

export interface SectionConfig {
  /** Weights of the parts of the data quality. */
  __dataQuality?: Partial<Record<QualityBucket, number>>;
  [section: string]: unknown;
}

export interface CardTypeSeed {
  key: string;
  number_prefix: string;
  label: string;
  description: string;
  category: string;
  color: string;
  icon: string;
  sort_order: number;
  has_hierarchy: boolean;
  has_successors: boolean;
  has_data_flows: boolean;
  allow_same_name: boolean;
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
