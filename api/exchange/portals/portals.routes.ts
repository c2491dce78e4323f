import Type from 'typebox';
import {
  createPortal,
  deletePortal,
  type PortalInput,
  patchPortal,
} from '../../../domain/exchange/portals/portals.commands.ts';
import { portalList } from '../../../domain/exchange/portals/portals.list.ts';
import { WebPortal } from '../../../domain/exchange/portals/portals.model.ts';
import { Clearable, component, Flag, object } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const { name, slug, description, card_type, filters, display_fields, card_config } = WebPortal.columns;
const members = {
  description: Type.Optional(description),
  filters: Clearable(filters),
  display_fields: Clearable(display_fields),
  card_config: Clearable(card_config),
};
const PortalCreateBody = object({
  name,
  slug,
  card_type,
  ...members,
  is_published: Flag('Whether it is public'),
});
const PortalPatchBody = object({
  name: Type.Optional(name),
  slug: Type.Optional(slug),
  card_type: Type.Optional(card_type),
  ...members,
  is_published: Type.Optional(Type.Boolean()),
});

const PortalSchema = component('WebPortal', WebPortal.columns);

const permission = 'web_portals.manage';
const seen = ['web_portals.view', 'web_portals.manage'] as ('web_portals.view' | 'web_portals.manage')[];
const permissionNote = 'web_portals.manage for drafts';
/** A portal shows cards and relations to everybody. */
const writing = { permission, permissionNote: 'inventory.view; relations.view' } as const;
const portal = PortalSchema;

/** Write operations of web portals. */
export function registerPortalRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Web portals', permission: 'web_portals.manage' });

  routes.list('listWebPortals', '/api/v1/web-portals', portalList, {
    summary: 'List web portals',
    permission: seen,
    permissionNote,
    responses: page('Portals', PortalSchema),
  });

  routes.post('createWebPortal', '/api/v1/web-portals', {
    summary: 'Create a web portal, which shows cards of one type to the public once it is published',
    description:
      'Visitors need no login. It shows the names of the cards that `filters` select, and the fields in `display_fields`; never costs or people.',
    ...writing,
    body: PortalCreateBody,
    responses: created('The portal', portal),
    errors: ['slug_taken'],
    handler: ({ ctx, body }) => createPortal(ctx, body as PortalInput),
  });

  routes.item('getWebPortal', '/api/v1/web-portals/:portal_id', portalList, 'web portal', {
    summary: 'Read the definition of a web portal',
    permission: seen,
    permissionNote,
    responses: ok('The portal', portal),
  });

  routes.patch('patchWebPortal', '/api/v1/web-portals/:portal_id', {
    summary: 'Change, publish or withdraw a web portal',
    description: '`filters`, `display_fields` and `card_config` are replaced completely; null empties them.',
    ...writing,
    body: PortalPatchBody,
    responses: ok('The portal', portal),
    errors: ['slug_taken'],
    handler: ({ ctx, params, body }) => patchPortal(ctx, params.portal_id, body as PortalInput),
  });

  routes.delete('deleteWebPortal', '/api/v1/web-portals/:portal_id', {
    summary: 'Delete a web portal',
    ifMatch: true,
    handler: ({ ctx, params }) => deletePortal(ctx, params.portal_id),
  });
}
