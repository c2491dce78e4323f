import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import type { PortalRow } from './portals.types.ts';

/** The topic that every change of a portal raises. */
export const PORTALS_TOPIC = 'web_portals';

/** The event of a written portal. */
export function portalEvent(before: PortalRow | null, after: PortalRow | null): EventDraft {
  const { id, name, slug } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return { event_type: `web_portal.${kind}`, data: { id, name, slug, changes: rowChanges(before, after) } };
}

export const portalUndo: UndoSpec[] = [
  {
    entity: 'web portal',
    table: 'web_portals',
    events: {
      created: ['web_portal.created'],
      updated: ['web_portal.updated'],
      deleted: ['web_portal.deleted'],
    },
    topics: () => [PORTALS_TOPIC],
  },
];
