import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { PORTALS_TOPIC, WebPortal } from './portals.model.ts';
import { readerPermissions } from './portals.store.ts';

/** Web portals. */
export const portalsExtension: Extension = {
  resources: [
    {
      model: WebPortal,
      name: 'web portal',
      events: {
        created: ['web_portal.created'],
        updated: ['web_portal.updated'],
        deleted: ['web_portal.deleted'],
      },
      topics: [PORTALS_TOPIC],
      // what a portal shows, everybody sees
      undo: { right: needs('web_portals.manage', ...readerPermissions) },
      transfer: {
        // what the public sees is decided in the target workspace: portals arrive unpublished, existing ones stay
        insertOnly: true,
        omitted: ['is_published'],
        matches: [['%.slug']],
        label: 't.slug',
      },
    },
  ],
};
