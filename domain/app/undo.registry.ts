import type { UndoSpec } from '../kernel/undo/undo.types.ts';
import { extensionList } from './extensions.ts';

/** How events are undone, by kind of object. Events of a kind without a specification cannot be undone. */
export const undoSpecs: readonly UndoSpec[] = extensionList.flatMap(({ undo }) => undo ?? []);
