import Type, { type TSchema } from 'typebox';
import {
  createPortal,
  deletePortal,
  type PortalInput,
  patchPortal,
} from '../../domain/exchange/portals/portals.commands.ts';
import { listPortals, readPortal } from '../../domain/exchange/portals/portals.list.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer } from '../schemas/common.ts';
import * as schemas from '../schemas/portals.ts';
import type { App } from '../types.ts';

const tag = 'Web portals';
const permission = 'web_portals.manage';
const seen = ['web_portals.view', 'web_portals.manage'] as ('web_portals.view' | 'web_portals.manage')[];
const permissionNote = 'web_portals.manage for drafts';
/** A portal shows cards and relations to everybody. */
const writing = { permission, permissionNote: 'inventory.view; relations.view' } as const;
const Params = Type.Object({ portal_id: Uuid }, closed);
const portal = Type.Ref('WebPortal#');

/** Making, publishing and changing web portals. */
export function registerPortalRoutes(app: App): void {
  const shared: TSchema[] = [schemas.PortalSchema, schemas.PortalItemSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/web-portals',
    id: 'listWebPortals',
    tag,
    summary: 'List web portals',
    permission: seen,
    permissionNote,
    query: schemas.PortalListQuery,
    answers: { 200: { description: 'Portals', schema: listAnswer(Type.Ref('WebPortalItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listPortals(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/web-portals',
    id: 'createWebPortal',
    tag,
    summary: 'Make a web portal, which shows cards of one type to the public once it is published',
    description:
      'Whoever looks at it needs no login. It shows the names of the cards that `filters` select, and what `display_fields` lists; costs and people never.',
    ...writing,
    body: schemas.PortalCreateBody,
    bodyExample: {
      name: 'Our applications',
      slug: 'our-applications',
      card_type: 'Application',
      filters: { filter: 'approval_status = APPROVED' },
      display_fields: ['description', 'lifecycle', 'attributes.businessCriticality', 'relations.relAppToBC'],
    },
    answers: { 201: { description: 'The portal', schema: portal, headers: ['ETag'] } },
    errors: ['slug_taken'],
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createPortal(ctx, body as PortalInput)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/web-portals/:portal_id',
    id: 'getWebPortal',
    tag,
    summary: 'Read a web portal as it was written',
    permission: seen,
    permissionNote,
    params: Params,
    answers: { 200: { description: 'The portal', schema: portal } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readPortal(ctx, params.portal_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/web-portals/:portal_id',
    id: 'patchWebPortal',
    tag,
    summary: 'Change, publish or withdraw a web portal',
    description: '`filters`, `display_fields` and `card_config` are replaced as a whole; null empties them.',
    ...writing,
    params: Params,
    body: schemas.PortalPatchBody,
    bodyExample: { is_published: true },
    headers: ['If-Match'],
    answers: { 200: { description: 'The portal', schema: portal } },
    errors: ['slug_taken'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchPortal(ctx, params.portal_id, body as PortalInput)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/web-portals/:portal_id',
    id: 'deleteWebPortal',
    tag,
    summary: 'Delete a web portal',
    permission,
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deletePortal(ctx, params.portal_id);
      return reply.code(204).send();
    },
  });
}
