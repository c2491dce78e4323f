import type { UndoSpec } from './undo.types.ts';

/** Everything that can be undone, by kind of object; a kind that is missing here is refused by name. */
export const undoSpecs: UndoSpec[] = [];
