import Type from 'typebox';
import { closed, Key, oneOf, Uuid } from '../../kernel/shapes.ts';

/** Which cards a portal shows. */
export const PortalFilters = Type.Object(
  {
    subtypes: Type.Optional(Type.Array(Key, { maxItems: 100 })),
    tag_ids: Type.Optional(Type.Array(Uuid, { maxItems: 100, description: 'Cards with one of the tags' })),
    filter: Type.Optional(
      Type.String({ maxLength: 4000, description: 'In the filter language; not about costs or people' }),
    ),
  },
  { ...closed, description: 'Which active cards of the type are shown; absent or empty: all' },
);

/** What a portal shows of them. */
export const PortalFields = Type.Array(Type.String({ minLength: 1, maxLength: 120 }), {
  maxItems: 100,
  description:
    'All that is shown of a card besides its name: `subtype`, `description`, `lifecycle`, `approval_status`, `data_quality`, `tags`, `updated_at`, attributes as `attributes.<key>` or by their key alone, and the names of related cards as `relations.<relation type>`; never costs',
});

/** How it shows them. */
export const PortalConfig = Type.Object(
  {
    sort_by: Type.Optional(
      Type.String({ maxLength: 120, description: 'The usual order: `name`, or by what is shown' }),
    ),
    sort_dir: Type.Optional(oneOf('asc', 'desc')),
    indexed: Type.Optional(
      Type.Boolean({ description: 'Whether search engines may list the page; not unless this is true' }),
    ),
  },
  { ...closed, description: 'How cards are shown' },
);
