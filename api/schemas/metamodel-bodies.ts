import Type, { type TSchema } from 'typebox';
import { fieldTypes } from '../../domain/metamodel/metamodel.types.ts';
import { Color, closed, Nullable, OpenObject } from './common.ts';

const line = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', ...(description ? { description } : {}) });

const Label = line(200);
const Description = Nullable(Type.String({ maxLength: 10_000 }));
const SortOrder = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const Translations = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Record(Type.String(), Type.String())]),
  {
    description:
      'Texts by member and language, or by language for the label alone. Tags as in RFC 5646, such as `de` or `pt-BR`.',
    examples: [{ label: { de: 'Anwendung' } }],
  },
);

/** Keys are names in addresses, columns and formulas. */
const Key = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$', examples: ['dataCentre'] });
const OptionKey = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$', examples: ['critical'] });
export const RoleKey = Type.String({
  pattern: '^[a-z][a-z0-9_]{1,48}[a-z0-9]$',
  examples: ['data_steward'],
});

const FieldTypeName = Type.Union(fieldTypes.map((type) => Type.Literal(type)));
const option = {
  key: OptionKey,
  label: Label,
  color: Type.Optional(Type.String({ maxLength: 50, pattern: '^#[0-9a-fA-F]{3,8}$|^[a-z]+$' })),
  translations: Type.Optional(Translations),
};
const Options = (item: TSchema) => Type.Array(item, { maxItems: 1_000 });

const Field = Type.Object(
  {
    key: Key,
    label: Label,
    type: FieldTypeName,
    weight: Type.Number({ minimum: 0, maximum: 1_000, default: 1, description: 'Share in the data quality' }),
    required: Type.Optional(Type.Boolean()),
    readonly: Type.Optional(Type.Boolean()),
    options: Type.Optional(Options(Type.Object(option, closed))),
    translations: Type.Optional(Translations),
  },
  closed,
);

const Section = Type.Object(
  {
    section: line(100),
    fields: Type.Array(Field, { maxItems: 500 }),
    translations: Type.Optional(Translations),
    columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
    groups: Type.Optional(Type.Array(line(100), { maxItems: 50 })),
  },
  closed,
);

const Subtype = Type.Object(
  {
    key: OptionKey,
    label: Label,
    translations: Type.Optional(Translations),
    hidden_fields: Type.Optional(Type.Array(Key, { maxItems: 500 })),
  },
  closed,
);

const cardTypeMembers = {
  label: Type.Optional(Label),
  description: Type.Optional(Description),
  icon: Type.Optional(line(100)),
  color: Type.Optional(Color),
  category: Type.Optional(Nullable(line(100))),
  has_hierarchy: Type.Optional(Type.Boolean()),
  has_successors: Type.Optional(Type.Boolean()),
  subtypes: Type.Optional(Type.Array(Subtype, { maxItems: 200 })),
  fields_schema: Type.Optional(Type.Array(Section, { maxItems: 100 })),
  stakeholder_roles: Type.Optional(
    Type.Array(
      Type.Object(
        {
          key: RoleKey,
          label: Label,
          color: Type.Optional(Color),
          translations: Type.Optional(Translations),
        },
        closed,
      ),
      { maxItems: 100, description: 'The active roles; those left out are deleted when nobody holds them' },
    ),
  ),
  section_config: Type.Optional(OpenObject),
  is_hidden: Type.Optional(Type.Boolean()),
  sort_order: Type.Optional(SortOrder),
  translations: Type.Optional(Translations),
};

export const CardTypeCreateBody = Type.Object({ ...cardTypeMembers, key: Key, label: Label }, closed);
export const CardTypePatchBody = Type.Object(cardTypeMembers, { ...closed, minProperties: 1 });

const Attribute = Type.Object(
  {
    key: Key,
    label: Label,
    type: FieldTypeName,
    options: Type.Optional(
      Options(
        Type.Object(
          {
            ...option,
            built_in: Type.Optional(Type.Boolean({ description: 'Told, never set' })),
            is_hidden: Type.Optional(Type.Boolean()),
          },
          closed,
        ),
      ),
    ),
    built_in: Type.Optional(Type.Boolean({ description: 'Told, never set' })),
    translations: Type.Optional(Translations),
  },
  closed,
);

const relationTypeMembers = {
  label: Type.Optional(Label),
  reverse_label: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  description: Type.Optional(Description),
  source_type_key: Type.Optional(Key),
  target_type_key: Type.Optional(Key),
  cardinality: Type.Optional(Type.Union([Type.Literal('1:1'), Type.Literal('1:n'), Type.Literal('n:m')])),
  attributes_schema: Type.Optional(Type.Array(Attribute, { maxItems: 200 })),
  source_visible: Type.Optional(Type.Boolean()),
  source_mandatory: Type.Optional(Type.Boolean()),
  target_visible: Type.Optional(Type.Boolean()),
  target_mandatory: Type.Optional(Type.Boolean()),
  is_hidden: Type.Optional(Type.Boolean()),
  sort_order: Type.Optional(SortOrder),
  translations: Type.Optional(Translations),
};

export const RelationTypeCreateBody = Type.Object(
  { ...relationTypeMembers, key: Key, label: Label, source_type_key: Key, target_type_key: Key },
  closed,
);
export const RelationTypePatchBody = Type.Object(relationTypeMembers, { ...closed, minProperties: 1 });

const Permissions = Type.Record(Type.String(), Type.Boolean(), {
  description: 'Card permissions by key; what is not named is not given',
});

export const RoleCreateBody = Type.Object(
  {
    key: RoleKey,
    label: Label,
    description: Type.Optional(Description),
    color: Type.Optional(Color),
    permissions: Type.Optional(Permissions),
    translations: Type.Optional(Translations),
  },
  closed,
);
export const RolePatchBody = Type.Object(
  {
    label: Type.Optional(Label),
    description: Type.Optional(Description),
    color: Type.Optional(Color),
    permissions: Type.Optional(Permissions),
    sort_order: Type.Optional(SortOrder),
    translations: Type.Optional(Translations),
  },
  { ...closed, minProperties: 1 },
);

const Affected = Type.Integer({ minimum: 0 });

/** The answer of a dry run. */
export const ImpactSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    cards: Type.Integer({ minimum: 0, description: 'Looked at anew, for values or data quality' }),
    relations: Type.Integer({ minimum: 0, description: 'Changed' }),
    removed_fields: Type.Array(Type.Object({ field_key: Type.String(), affected: Affected }, closed)),
    removed_options: Type.Array(
      Type.Object({ field_key: Type.String(), option_key: Type.String(), affected: Affected }, closed),
    ),
    removed_subtypes: Type.Array(Type.Object({ subtype_key: Type.String(), affected: Affected }, closed)),
    changed_fields: Type.Array(
      Type.Object(
        {
          field_key: Type.String(),
          from: FieldTypeName,
          to: FieldTypeName,
          affected: Affected,
          converted: Affected,
          misfits: Affected,
          examples: Type.Array(
            Type.Object({ id: Type.String(), value: Type.Optional(Type.Unknown()) }, closed),
          ),
        },
        closed,
      ),
    ),
    required_fields: Type.Array(Type.Object({ field_key: Type.String(), missing: Affected }, closed)),
    mandatory_sides: Type.Array(
      Type.Object(
        {
          side: Type.Union([Type.Literal('source'), Type.Literal('target')]),
          missing: Affected,
        },
        closed,
      ),
    ),
    needs_force: Type.Boolean({ description: 'Values do not fit: refused unless `force` gives them up' }),
    as_job: Type.Boolean({ description: 'Carried out by a job, which the answer names' }),
  },
  { $id: 'MetamodelImpact', additionalProperties: false, description: 'What a change would do' },
);
