import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { createPublicPortals, type OpenPortal } from '../../../domain/exchange/portals/portals.cards.ts';
import type { PortalQuery } from '../../../domain/exchange/portals/portals.query.ts';
import { PublicCard, PublicPortal } from '../../../domain/exchange/portals/portals.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  Count,
  component,
  FilledText,
  IntegerIn,
  OptionalText,
  object,
  optional,
  TextUpTo,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { sendJson } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { pagePolicy } from './page/portal.document.ts';
import { readForm } from './page/portal.form.ts';
import { portalPage } from './page/portal.page.ts';

const SlugParams = object({
  slug: FilledText(500, 'The slug of a published portal'),
});

const page = {
  total: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1, maximum: 100 }),
};
const PublicCardsSchema = component('PublicWebPortalCards', {
  items: Type.Array(PublicCard),
  ...page,
});
const PortalOptionsSchema = component('WebPortalRelationOptions', {
  items: Type.Array(object({ id: Uuid, name: Type.String() })),
  ...page,
});

const PageNumber = IntegerIn(1, 10_000, 'From 1; up to the first 10,000 cards', 1);
const paged = {
  page: PageNumber,
  page_size: IntegerIn(1, 100, 'Items per page', 24),
};
const Search = (what: string) => OptionalText(200, `Words that ${what} contain`);

const PortalOptionsQuery = object({
  type_key: FilledText(100, 'A shown relation type, or the card type at its other end'),
  search: Search('their names must'),
  ...paged,
});
const JsonText = (description: string, example: object) =>
  Type.Optional(Type.String({ maxLength: 10_000, description, examples: [JSON.stringify(example)] }));

const PublicCardsQuery = object({
  search: Search('the name and, where it is shown, the description must'),
  ...optional({
    subtype: TextUpTo(100, 'Only if the portal shows subtypes'),
    tag_ids: TextUpTo(
      4000,
      'Comma-separated ids, if the portal shows tags: any tag of a group must match, for every group',
    ),
    related_type: TextUpTo(100, 'Cards with a relation of this shown type, or to cards of this type'),
    related_id: Type.String({ ...Uuid, description: 'Cards with a shown relation to this card' }),
  }),
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
  ...optional({
    sort_by: TextUpTo(
      120,
      'A shown field, such as `name` or `attributes.<key>`; default: the order of the portal',
    ),
    sort_dir: Choice(['asc', 'desc'], 'Ties are broken by id'),
  }),
});

const pageMembers = {
  search: Search('the name and, where it is shown, the description must'),
  ...optional({
    filter: Type.Array(Type.String({ maxLength: 600 }), {
      maxItems: 60,
      description:
        'The selection, as `subtype:key`, `tag:id`, `attributes.key:value` or `relations.type:id`; empty ones are ignored',
    }),
    sort: TextUpTo(121, 'A field; the prefix `-` means descending order'),
  }),
  page: PageNumber,
};
/** Mail and advertising tools append parameters of their own to links. */
const PortalPageQuery = object(pageMembers, { patternProperties: { '^utm_|^[a-z]{2,}clid$': {} } });

/** `max-age` of public responses, in seconds. */
const MAX_AGE = 30;
const API = '/api/v1/web-portals/public/:slug';

/** The public view of published portals, as JSON and as a page. */
export function registerPublicPortalRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Web portals', permission: 'public', errors: ['too_many_requests'] });
  const portals = createPublicPortals();

  const open = (request: FastifyRequest, slug: string) => {
    const { ctx, topics, ip: address } = request;
    return portals.open({ ctx, topics, address }, slug);
  };
  /** Sets the headers for caching and search engines. */
  const shownBy = (portal: OpenPortal, reply: FastifyReply) => {
    if (!portal.indexed) reply.header('x-robots-tag', 'noindex');
    return reply.header('cache-control', `public, max-age=${MAX_AGE}`);
  };

  routes.get('readPublicWebPortal', API, {
    summary: 'Read a published portal',
    description: 'The type, fields, relations and tags that it shows.',
    params: SlugParams,
    responses: ok('The portal', PublicPortal),
    handler: async ({ params, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.definition());
    },
  });

  routes.get('listPublicWebPortalOptions', `${API}/relation-options`, {
    summary: 'List the related cards of a portal, for its filters',
    params: SlugParams,
    query: PortalOptionsQuery,
    responses: ok('Cards by name', PortalOptionsSchema),
    handler: async ({ params, query, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.options(query));
    },
  });

  routes.get('listPublicWebPortalCards', `${API}/cards`, {
    summary: 'List the cards of a published portal',
    description:
      'Search, filters and order are limited to what the portal shows; all other fields are refused with 422, whether they exist or not.',
    params: SlugParams,
    query: PublicCardsQuery,
    responses: ok('A page of cards', PublicCardsSchema),
    handler: async ({ params, query, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.cards(query as PortalQuery));
    },
  });

  routes.get('readWebPortalPage', '/portal/:slug', {
    summary: 'Read a published portal as an HTML page',
    format: 'html',
    headers: ['If-None-Match'],
    params: SlugParams,
    query: PortalPageQuery,
    responses: {
      200: { description: 'The page', schema: Type.String(), mediaType: 'text/html', headers: ['ETag'] },
    },
    handler: async ({ params, query, request, reply }) => {
      const portal = await open(request, params.slug);
      const form = await readForm(portal, query);
      const { values } = await settingsOf(services, request);
      const workspace = {
        title: values.app_title,
        logo: values.logo !== null,
        icon: values.favicon !== null,
      };
      const page = portalPage({ ...form, workspace });
      return shownBy(portal, reply)
        .header('content-type', 'text/html; charset=utf-8')
        .header('content-security-policy', pagePolicy)
        .header('referrer-policy', 'no-referrer')
        .serializer(String)
        .send(page);
    },
  });
}
