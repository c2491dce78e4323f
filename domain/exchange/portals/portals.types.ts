import Type, { type Static } from 'typebox';
import type {
  FieldOption,
  Translations as FieldTranslations,
} from '../../kernel/metamodel/metamodel.types.ts';
import { arrayOf, Choice, Nullable, OpenObject, object, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** Members of a card that a portal may show besides its name, attributes and relations. */
export const coreFields = [
  'subtype',
  'description',
  'lifecycle',
  'approval_status',
  'data_quality',
  'tags',
  'updated_at',
] as const;
export type CoreField = (typeof coreFields)[number];

const Translations = Type.Unsafe<FieldTranslations>(OpenObject);
const ShownField = object({
  key: Type.String(),
  label: Type.String(),
  type: Type.String(),
  options: Type.Optional(Type.Array(Type.Unsafe<FieldOption>(OpenObject))),
  translations: Type.Optional(Translations),
});

const ShownSection = object({
  section: Type.String(),
  fields: Type.Array(ShownField),
  translations: Type.Optional(Translations),
});

/** The public definition of a portal, limited to what it shows. */
export const PublicPortal = object(
  {
    id: Uuid,
    name: Type.String(),
    slug: Type.String(),
    description: Nullable(Type.String()),
    card_type: Type.String(),
    filters: Type.Null({ description: 'Always null: how cards are selected is not public' }),
    display_fields: Type.Array(Type.String(), { description: 'What is shown now' }),
    card_config: object({
      sort_by: Type.String(),
      sort_dir: Choice(['asc', 'desc']),
      indexed: Type.Boolean(),
      short_fields: Type.Array(Type.String(), { description: 'Those of `display_fields` in the short form' }),
      show_logo: Type.Boolean(),
    }),
    type_info: object({
      key: Type.String(),
      label: Type.String(),
      icon: Type.String(),
      color: Type.String(),
      fields_schema: Type.Array(ShownSection, { description: 'The shown attributes' }),
      subtypes: arrayOf(
        {
          key: Type.String(),
          label: Type.String(),
          translations: Translations,
          hidden_fields: Type.Array(Type.String()),
        },
        { description: 'Empty unless subtypes are shown' },
      ),
      translations: Translations,
    }),
    relation_types: arrayOf(
      {
        key: Type.String(),
        label: Type.String(),
        reverse_label: Nullable(Type.String()),
        source_type_key: Type.String(),
        target_type_key: Type.String(),
        other_type_key: Type.String(),
        other_type_label: Type.String(),
        translations: Translations,
      },
      { description: 'The shown relations' },
    ),
    tag_groups: arrayOf(
      {
        id: Uuid,
        name: Type.String(),
        tags: arrayOf({ id: Uuid, name: Type.String(), color: Nullable(Type.String()) }),
      },
      { description: 'The tags that shown cards have; empty unless tags are shown' },
    ),
  },
  { $id: 'PublicWebPortal' },
);

/** A card as a portal shows it: what is not shown is null or empty. */
export const PublicCard = object(
  {
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    subtype: Nullable(Type.String()),
    description: Nullable(Type.String()),
    lifecycle: Nullable(Type.Unsafe<Record<string, string>>(OpenObject)),
    attributes: OpenObject,
    approval_status: Nullable(Type.String()),
    data_quality: Nullable(Type.Number()),
    tags: arrayOf({
      id: Uuid,
      name: Type.String(),
      color: Nullable(Type.String()),
      group_name: Type.String(),
    }),
    relations: arrayOf(
      {
        type: Type.String(),
        related_id: Uuid,
        related_name: Type.String(),
        related_type: Type.String(),
        direction: Choice(['outgoing', 'incoming']),
      },
      { maxItems: 100, description: 'The first 100 by type and name' },
    ),
    stakeholders: arrayOf(
      { role: Type.String(), user_display_name: Type.String() },
      { maxItems: 0, description: 'Always empty: people are not public' },
    ),
    updated_at: Nullable(Timestamp),
  },
  { description: 'What the portal does not show is null or empty' },
);

export type PublicPortal = Static<typeof PublicPortal>;
export type PublicCard = Static<typeof PublicCard>;
export type ShownSection = Static<typeof ShownSection>;
export type ShownField = Static<typeof ShownField>;
