import Type from 'typebox';
import { fieldTypes } from '../../domain/kernel/metamodel/metamodel.types.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const FieldTypeName = Type.Union(fieldTypes.map((type) => Type.Literal(type)));

const FieldOption = Type.Object(
  {
    key: Type.String(),
    label: Type.String(),
    color: Type.Optional(Type.String()),
    translations: Type.Optional(OpenObject),
    built_in: Type.Optional(Type.Boolean()),
    is_hidden: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Field = Type.Object(
  {
    key: Type.String(),
    label: Type.String(),
    type: FieldTypeName,
    weight: Type.Number(),
    required: Type.Optional(Type.Boolean()),
    readonly: Type.Optional(Type.Boolean()),
    options: Type.Optional(Type.Array(FieldOption)),
    translations: Type.Optional(OpenObject),
  },
  closed,
);

/** A section of a card type's fields. */
export const SectionSchema = Type.Object(
  {
    section: Type.String(),
    fields: Type.Array(Field),
    translations: Type.Optional(OpenObject),
    columns: Type.Optional(Type.Integer()),
    groups: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);

/** Every member is there unless the request cut the items with `fields`. */
export const CardTypeSchema = Type.Partial(
  Type.Object({
    key: Type.String(),
    label: Type.String(),
    description: Nullable(Type.String()),
    icon: Type.String(),
    color: Type.String(),
    category: Nullable(Type.String()),
    has_hierarchy: Type.Boolean(),
    has_successors: Type.Boolean(),
    subtypes: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          label: Type.String(),
          translations: OpenObject,
          hidden_fields: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    fields_schema: Type.Array(SectionSchema),
    stakeholder_roles: Type.Array(
      Type.Object(
        { key: Type.String(), label: Type.String(), color: Type.String(), translations: OpenObject },
        closed,
      ),
    ),
    section_config: OpenObject,
    built_in: Type.Boolean(),
    is_hidden: Type.Boolean(),
    sort_order: Type.Integer(),
    translations: OpenObject,
  }),
  { $id: 'CardType', additionalProperties: false },
);

export const RelationTypeSchema = Type.Partial(
  Type.Object({
    key: Type.String(),
    label: Type.String(),
    reverse_label: Nullable(Type.String()),
    description: Nullable(Type.String()),
    source_type_key: Type.String(),
    target_type_key: Type.String(),
    cardinality: Type.Union([Type.Literal('1:1'), Type.Literal('1:n'), Type.Literal('n:m')]),
    attributes_schema: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          label: Type.String(),
          type: FieldTypeName,
          options: Type.Optional(Type.Array(FieldOption)),
          built_in: Type.Boolean(),
          translations: Type.Optional(OpenObject),
        },
        closed,
      ),
    ),
    source_visible: Type.Boolean(),
    source_mandatory: Type.Boolean(),
    target_visible: Type.Boolean(),
    target_mandatory: Type.Boolean(),
    built_in: Type.Boolean(),
    is_hidden: Type.Boolean(),
    sort_order: Type.Integer(),
    translations: OpenObject,
  }),
  { $id: 'RelationType', additionalProperties: false },
);

export const StakeholderRoleSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    card_type_key: Type.String(),
    key: Type.String(),
    label: Type.String(),
    description: Nullable(Type.String()),
    color: Type.String(),
    permissions: Type.Record(Type.String(), Type.Boolean()),
    is_archived: Type.Boolean(),
    sort_order: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
    archived_by: Nullable(Uuid),
    translations: OpenObject,
    stakeholder_count: Type.Integer({ description: 'Only when one role is read' }),
  }),
  { $id: 'StakeholderRole', additionalProperties: false },
);
