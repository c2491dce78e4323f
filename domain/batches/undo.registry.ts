import { catalogueUndo } from '../catalogues/catalogues.undo.ts';
import { metamodelUndo } from '../metamodel/changes/undo.ts';
import type { UndoSpec } from './undo.types.ts';

/** Everything that can be undone, by kind of object; a kind that is missing here is refused by name. */
export const undoSpecs: UndoSpec[] = [...metamodelUndo, ...catalogueUndo];
export const undoSpecs: UndoSpec[] = [
  { entity: 'notification', table: 'notifications', events: { updated: ['notification.read'] } },
];
