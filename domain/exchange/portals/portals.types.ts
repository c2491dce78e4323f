import Type, { type Static } from 'typebox';
import type {
  FieldOption,
  Translations as FieldTranslations,
} from '../../kernel/metamodel/metamodel.types.ts';
import { Choice, closed, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

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
const ShownField = Type.Object(
  {
    key: Type.String(),
    label: Type.String(),
    type: Type.String(),
    options: Type.Optional(Type.Array(Type.Unsafe<FieldOption>(OpenObject))),
    translations: Type.Optional(Translations),
  },
  closed,
);

const ShownSection = Type.Object(
  {
    section: Type.String(),
    fields: Type.Array(ShownField),
    translations: Type.Optional(Translations),
  },
  closed,
);

/** The public definition of a portal, limited to what it shows. */
export const PublicPortal = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    slug: Type.String(),
    description: Nullable(Type.String()),
    card_type: Type.String(),
    filters: Type.Null({ description: 'Always null: how cards are selected is not public' }),
    display_fields: Type.Array(Type.String(), { description: 'What is shown now' }),
    card_config: Type.Object(
      { sort_by: Type.String(), sort_dir: Choice(['asc', 'desc']), indexed: Type.Boolean() },
      closed,
    ),
    type_info: Type.Object(
      {
        key: Type.String(),
        label: Type.String(),
        icon: Type.String(),
        color: Type.String(),
        fields_schema: Type.Array(ShownSection, { description: 'The shown attributes' }),
        subtypes: Type.Array(
          Type.Object(
            {
              key: Type.String(),
              label: Type.String(),
              translations: Translations,
              hidden_fields: Type.Array(Type.String()),
            },
            closed,
          ),
          { description: 'Empty unless subtypes are shown' },
        ),
        translations: Translations,
      },
      closed,
    ),
    relation_types: Type.Array(
      Type.Object(
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
        closed,
      ),
      { description: 'The shown relations' },
    ),
    tag_groups: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          tags: Type.Array(
            Type.Object({ id: Uuid, name: Type.String(), color: Nullable(Type.String()) }, closed),
          ),
        },
        closed,
      ),
      { description: 'The tags that shown cards have; empty unless tags are shown' },
    ),
  },
  { $id: 'PublicWebPortal', ...closed },
);

/** A card as a portal shows it: what is not shown is null or empty. */
export const PublicCard = Type.Object(
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
    tags: Type.Array(
      Type.Object(
        { id: Uuid, name: Type.String(), color: Nullable(Type.String()), group_name: Type.String() },
        closed,
      ),
    ),
    relations: Type.Array(
      Type.Object(
        {
          type: Type.String(),
          related_id: Uuid,
          related_name: Type.String(),
          related_type: Type.String(),
          direction: Choice(['outgoing', 'incoming']),
        },
        closed,
      ),
      { maxItems: 100, description: 'The first 100 by type and name' },
    ),
    stakeholders: Type.Array(Type.Object({ role: Type.String(), user_display_name: Type.String() }, closed), {
      maxItems: 0,
      description: 'Always empty: people are not public',
    }),
    updated_at: Nullable(Timestamp),
  },
  { ...closed, description: 'What the portal does not show is null or empty' },
);

export type PublicPortal = Static<typeof PublicPortal>;
export type PublicCard = Static<typeof PublicCard>;
export type ShownSection = Static<typeof ShownSection>;
export type ShownField = Static<typeof ShownField>;
