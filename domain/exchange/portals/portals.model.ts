import Type, { type Static } from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Key, Nullable, partialObject, TextUpTo, Timestamp, Uuid } from '../../kernel/shapes.ts';

export const PortalFilters = partialObject(
  {
    subtypes: Type.Array(Key, { maxItems: 100 }),
    tag_ids: Type.Array(Uuid, { maxItems: 100, description: 'Cards with one of the tags' }),
    filter: TextUpTo(4000, 'In the filter language; not about costs or people'),
  },
  { description: 'Which active cards of the type are shown; absent or empty: all' },
);
export type PortalFilters = Static<typeof PortalFilters>;

export const PortalFields = Type.Array(Type.String({ minLength: 1, maxLength: 120 }), {
  maxItems: 100,
  description:
    'All that is shown of a card besides its name: `subtype`, `description`, `lifecycle`, `approval_status`, `data_quality`, `tags`, `updated_at`, attributes as `attributes.<key>` or by their key alone, and the names of related cards as `relations.<relation type>`; never costs',
});

export const PortalConfig = partialObject(
  {
    sort_by: TextUpTo(120, 'The default order: `name`, or by what is shown'),
    sort_dir: Choice(['asc', 'desc']),
    indexed: Type.Boolean({
      description: 'Whether search engines may list the page; not unless this is true',
    }),
    short_fields: Type.Array(Type.String({ minLength: 1, maxLength: 120 }), {
      maxItems: 100,
      description:
        'The entries of `display_fields` in the short form of a card; its long form has all. Default: all',
    }),
    show_logo: Type.Boolean({
      description: 'Whether the page has the logo of the workspace; yes unless this is false',
    }),
  },
  { description: 'How cards are shown' },
);
export type PortalConfig = Static<typeof PortalConfig>;

export class WebPortal extends rowModel('web_portals', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  slug: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
    description: 'Lower-case words and digits, joined by single hyphens; unique',
  }),
  description: Nullable(Type.String({ maxLength: 10_000 })),
  card_type: Key,
  filters: PortalFilters,
  display_fields: PortalFields,
  card_config: PortalConfig,
  is_published: Type.Boolean({ description: 'Whether the public sees it' }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type PortalRow = RowOf<typeof WebPortal>;

/** The topic that every change of a portal raises. */
export const PORTALS_TOPIC = 'web_portals';
