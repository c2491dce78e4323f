import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** That a notification was read can be undone; the notifications themselves follow from the feed. */
export const notificationUndo: UndoSpec[] = [
  { entity: 'notification', table: 'notifications', events: { updated: ['notification.read'] } },
];
