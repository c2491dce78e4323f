import {
  createPortal,
  deletePortal,
  type PortalInput,
  patchPortal,
} from '../../../domain/exchange/portals/portals.commands.ts';
import { listPortals, readPortal } from '../../../domain/exchange/portals/portals.list.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/portals.ts';
import type { App } from '../../types.ts';

const permission = 'web_portals.manage';
const seen = ['web_portals.view', 'web_portals.manage'] as ('web_portals.view' | 'web_portals.manage')[];
const permissionNote = 'web_portals.manage for drafts';
/** A portal shows cards and relations to everybody. */
const writing = { permission, permissionNote: 'inventory.view; relations.view' } as const;
const portal = schemas.PortalSchema;

/** Write operations of web portals. */
export function registerPortalRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Web portals', permission: 'web_portals.manage' });

  routes.get('/api/v1/web-portals', {
    id: 'listWebPortals',
    summary: 'List web portals',
    permission: seen,
    permissionNote,
    query: schemas.PortalListQuery,
    answers: page('Portals', schemas.PortalItemSchema),
    handler: ({ ctx, query }) => listPortals(ctx, query),
  });

  routes.post('/api/v1/web-portals', {
    id: 'createWebPortal',
    summary: 'Create a web portal, which shows cards of one type to the public once it is published',
    description:
      'Visitors need no login. It shows the names of the cards that `filters` select, and the fields in `display_fields`; never costs or people.',
    ...writing,
    body: schemas.PortalCreateBody,

    answers: created('The portal', portal),
    errors: ['slug_taken'],
    handler: ({ ctx, body }) => createPortal(ctx, body as PortalInput),
  });

  routes.get('/api/v1/web-portals/:portal_id', {
    id: 'getWebPortal',
    summary: 'Read the definition of a web portal',
    permission: seen,
    permissionNote,
    answers: ok('The portal', portal),
    handler: ({ ctx, params }) => readPortal(ctx, params.portal_id),
  });

  routes.patch('/api/v1/web-portals/:portal_id', {
    id: 'patchWebPortal',
    summary: 'Change, publish or withdraw a web portal',
    description: '`filters`, `display_fields` and `card_config` are replaced completely; null empties them.',
    ...writing,
    body: schemas.PortalPatchBody,

    headers: ['If-Match'],
    answers: ok('The portal', portal),
    errors: ['slug_taken'],
    handler: ({ ctx, params, body }) => patchPortal(ctx, params.portal_id, body as PortalInput),
  });

  routes.delete('/api/v1/web-portals/:portal_id', {
    id: 'deleteWebPortal',
    summary: 'Delete a web portal',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deletePortal(ctx, params.portal_id),
  });
}
