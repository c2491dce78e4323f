import Type from 'typebox';
import { portalFilters, portalSorts } from '../../domain/exchange/portals/portals.list.ts';
import { WebPortal } from '../../domain/exchange/portals/portals.model.ts';
import { PublicCard } from '../../domain/exchange/portals/portals.types.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { listQuery } from './common.ts';

const Count = Type.Integer({ minimum: 0 });

const { name, slug, description, card_type, filters, display_fields, card_config } = WebPortal.columns;
const members = {
  description: Type.Optional(description),
  filters: Type.Optional(Nullable(filters)),
  display_fields: Type.Optional(Nullable(display_fields)),
  card_config: Type.Optional(Nullable(card_config)),
};
export const PortalCreateBody = object({
  name,
  slug,
  card_type,
  ...members,
  is_published: Type.Boolean({ default: false, description: 'Whether it is public' }),
});
export const PortalPatchBody = object({
  name: Type.Optional(name),
  slug: Type.Optional(slug),
  card_type: Type.Optional(card_type),
  ...members,
  is_published: Type.Optional(Type.Boolean()),
});

export const PortalSchema = component('WebPortal', WebPortal.columns);
/** A portal in a list, with the requested members. */
export const PortalItemSchema = itemComponent('WebPortalItem', WebPortal.columns);

export const PortalListQuery = listQuery(portalSorts, 'name', portalFilters);

export const SlugParams = object({
  slug: Type.String({ minLength: 1, maxLength: 500, description: 'The slug of a published portal' }),
});

const page = {
  total: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1, maximum: 100 }),
};
export const PublicCardsSchema = component('PublicWebPortalCards', {
  items: Type.Array(PublicCard),
  ...page,
});
export const PortalOptionsSchema = component('WebPortalRelationOptions', {
  items: Type.Array(object({ id: Uuid, name: Type.String() })),
  ...page,
});

const PageNumber = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  default: 1,
  description: 'From 1; up to the first 10,000 cards',
});
const paged = {
  page: PageNumber,
  page_size: Type.Integer({ minimum: 1, maximum: 100, default: 24, description: 'Items per page' }),
};
const Search = (what: string) =>
  Type.Optional(Type.String({ maxLength: 200, description: `Words that ${what} contain` }));

export const PortalOptionsQuery = object({
  type_key: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'A shown relation type, or the card type at its other end',
  }),
  search: Search('their names must'),
  ...paged,
});
const JsonText = (description: string, example: object) =>
  Type.Optional(Type.String({ maxLength: 10_000, description, examples: [JSON.stringify(example)] }));

export const PublicCardsQuery = object({
  search: Search('the name and, where it is shown, the description must'),
  subtype: Type.Optional(Type.String({ maxLength: 100, description: 'Only if the portal shows subtypes' })),
  tag_ids: Type.Optional(
    Type.String({
      maxLength: 4000,
      description:
        'Comma-separated ids, if the portal shows tags: any tag of a group must match, for every group',
    }),
  ),
  related_type: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Cards with a relation of this shown type, or to cards of this type',
    }),
  ),
  related_id: Type.Optional(
    Type.String({ ...Uuid, description: 'Cards with a shown relation to this card' }),
  ),
  relation_filters: JsonText(
    'JSON: ids of related cards, any of which must match, by keys as in `related_type`',
    {
      relAppToITC: ['0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11'],
    },
  ),
  attr_filters: JsonText('JSON: values, any of which must match, by shown attribute', {
    businessCriticality: ['missionCritical'],
  }),
  ...paged,
  sort_by: Type.Optional(
    Type.String({
      maxLength: 120,
      description: 'A shown field, such as `name` or `attributes.<key>`; default: the order of the portal',
    }),
  ),
  sort_dir: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: 'Ties are broken by id' }),
  ),
});

export const PortalPageQuery = object({
  search: Search('the name and, where it is shown, the description must'),
  filter: Type.Optional(
    Type.Array(Type.String({ maxLength: 600 }), {
      maxItems: 60,
      description:
        'The selection, as `subtype:key`, `tag:id`, `attributes.key:value` or `relations.type:id`; empty ones are ignored',
    }),
  ),
  sort: Type.Optional(
    Type.String({ maxLength: 121, description: 'A field; the prefix `-` means descending order' }),
  ),
  page: PageNumber,
});
