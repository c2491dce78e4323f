import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { createPublicPortals, type OpenPortal } from '../../../domain/exchange/portals/portals.cards.ts';
import type { PortalQuery } from '../../../domain/exchange/portals/portals.query.ts';
import { PublicPortal } from '../../../domain/exchange/portals/portals.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { sendJson } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/portals.ts';
import type { App } from '../../types.ts';
import { pagePolicy } from './page/portal.document.ts';
import { readForm } from './page/portal.form.ts';
import { portalPage } from './page/portal.page.ts';

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

  routes.get(API, {
    id: 'readPublicWebPortal',
    summary: 'Read a published portal',
    description: 'The type, fields, relations and tags that it shows.',
    params: schemas.SlugParams,
    answers: ok('The portal', PublicPortal),
    handler: async ({ params, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.definition());
    },
  });

  routes.get(`${API}/relation-options`, {
    id: 'listPublicWebPortalOptions',
    summary: 'List the related cards of a portal, for its filters',
    params: schemas.SlugParams,
    query: schemas.PortalOptionsQuery,
    answers: ok('Cards by name', schemas.PortalOptionsSchema),
    handler: async ({ params, query, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.options(query));
    },
  });

  routes.get(`${API}/cards`, {
    id: 'listPublicWebPortalCards',
    summary: 'List the cards of a published portal',
    description:
      'Search, filters and order are limited to what the portal shows; all other fields are refused with 422, whether they exist or not.',
    params: schemas.SlugParams,
    query: schemas.PublicCardsQuery,
    answers: ok('A page of cards', schemas.PublicCardsSchema),
    handler: async ({ params, query, request, reply }) => {
      const portal = await open(request, params.slug);
      return sendJson(shownBy(portal, reply), await portal.cards(query as PortalQuery));
    },
  });

  routes.get('/portal/:slug', {
    id: 'readWebPortalPage',
    summary: 'Read a published portal as an HTML page',
    html: true,
    headers: ['If-None-Match'],
    params: schemas.SlugParams,
    query: schemas.PortalPageQuery,
    answers: {
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
