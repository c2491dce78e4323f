import Type from 'typebox';
import {
  AttributeSchema,
  CardPermissions,
  cardinalities,
  FieldTypeName,
  Label,
  line,
  RoleKey,
  SectionSchema,
  SubtypeSchema,
  TranslationsSchema,
  TypeKey,
} from '../../domain/kernel/metamodel/metamodel.types.ts';
import { Choice, Color, Nullable, OpenObject, object } from '../../domain/kernel/shapes.ts';

const Description = Nullable(Type.String({ maxLength: 10_000 }));
const SortOrder = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const cardTypeMembers = {
  label: Type.Optional(Label),
  description: Type.Optional(Description),
  icon: Type.Optional(line(100)),
  color: Type.Optional(Color),
  category: Type.Optional(Nullable(line(100))),
  has_hierarchy: Type.Optional(Type.Boolean()),
  has_successors: Type.Optional(Type.Boolean()),
  subtypes: Type.Optional(Type.Array(SubtypeSchema, { maxItems: 200 })),
  fields_schema: Type.Optional(Type.Array(SectionSchema, { maxItems: 100 })),
  stakeholder_roles: Type.Optional(
    Type.Array(
      object({
        key: RoleKey,
        label: Label,
        color: Type.Optional(Color),
        translations: Type.Optional(TranslationsSchema),
      }),
      { maxItems: 100, description: 'The active roles; omitted roles are deleted if nobody has them' },
    ),
  ),
  section_config: Type.Optional(OpenObject),
  is_hidden: Type.Optional(Type.Boolean()),
  sort_order: Type.Optional(SortOrder),
  translations: Type.Optional(TranslationsSchema),
};

export const CardTypeCreateBody = object({ ...cardTypeMembers, key: TypeKey, label: Label });
export const CardTypePatchBody = object(cardTypeMembers, { minProperties: 1 });

const relationTypeMembers = {
  label: Type.Optional(Label),
  reverse_label: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  description: Type.Optional(Description),
  source_type_key: Type.Optional(TypeKey),
  target_type_key: Type.Optional(TypeKey),
  cardinality: Type.Optional(Choice(cardinalities)),
  attributes_schema: Type.Optional(Type.Array(AttributeSchema, { maxItems: 200 })),
  source_visible: Type.Optional(Type.Boolean()),
  source_mandatory: Type.Optional(Type.Boolean()),
  target_visible: Type.Optional(Type.Boolean()),
  target_mandatory: Type.Optional(Type.Boolean()),
  is_hidden: Type.Optional(Type.Boolean()),
  sort_order: Type.Optional(SortOrder),
  translations: Type.Optional(TranslationsSchema),
};

export const RelationTypeCreateBody = object({
  ...relationTypeMembers,
  key: TypeKey,
  label: Label,
  source_type_key: TypeKey,
  target_type_key: TypeKey,
});
export const RelationTypePatchBody = object(relationTypeMembers, { minProperties: 1 });

export const RoleCreateBody = object({
  key: RoleKey,
  label: Label,
  description: Type.Optional(Description),
  color: Type.Optional(Color),
  permissions: Type.Optional(CardPermissions),
  translations: Type.Optional(TranslationsSchema),
});
export const RolePatchBody = object(
  {
    label: Type.Optional(Label),
    description: Type.Optional(Description),
    color: Type.Optional(Color),
    permissions: Type.Optional(CardPermissions),
    sort_order: Type.Optional(SortOrder),
    translations: Type.Optional(TranslationsSchema),
  },
  { minProperties: 1 },
);

const Affected = Type.Integer({ minimum: 0 });

/** The response of a dry run. */
export const ImpactSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    cards: Type.Integer({ minimum: 0, description: 'Cards whose values or data quality are computed again' }),
    relations: Type.Integer({ minimum: 0, description: 'Changed' }),
    removed_fields: Type.Array(object({ field_key: Type.String(), affected: Affected })),
    removed_options: Type.Array(
      object({ field_key: Type.String(), option_key: Type.String(), affected: Affected }),
    ),
    removed_subtypes: Type.Array(object({ subtype_key: Type.String(), affected: Affected })),
    changed_fields: Type.Array(
      object({
        field_key: Type.String(),
        from: FieldTypeName,
        to: FieldTypeName,
        affected: Affected,
        converted: Affected,
        misfits: Affected,
        examples: Type.Array(object({ id: Type.String(), value: Type.Optional(Type.Unknown()) })),
      }),
    ),
    required_fields: Type.Array(object({ field_key: Type.String(), missing: Affected })),
    mandatory_sides: Type.Array(
      object({
        side: Type.Union([Type.Literal('source'), Type.Literal('target')]),
        missing: Affected,
      }),
    ),
    needs_force: Type.Boolean({
      description: 'Values cannot be converted: refused unless `force` removes them',
    }),
    as_job: Type.Boolean({ description: 'Whether a job executes the change; the response names it' }),
  },
  { $id: 'MetamodelImpact', additionalProperties: false, description: 'The impact of a change' },
);
