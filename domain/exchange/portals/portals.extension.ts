import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { readerPermissions } from './portals.commands.ts';
import { PORTALS_TOPIC, WebPortal } from './portals.model.ts';
import { portalConsumers } from './portals.references.ts';

/** Web portals. */
export const portalsExtension: Extension = {
  resources: [
    {
      model: WebPortal,
      name: 'web portal',
      events: rowEvents('web_portal'),
      topics: [PORTALS_TOPIC],
      // Portals make their contents public.
      undo: { right: needs('web_portals.manage', ...readerPermissions) },
      transfer: {
        // Publishing is decided in the target workspace: imported portals are drafts, existing ones are not changed.
        insertOnly: true,
        omitted: ['is_published'],
        matches: [['%.slug']],
        label: 't.slug',
      },
    },
  ],
  consumers: [portalConsumers],
};
