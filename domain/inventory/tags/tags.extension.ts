import type { Extension } from '../../kernel/extensions.ts';
import { tagUndo } from './tags.undo.ts';

/** Tags and tag groups. */
export const tagsExtension: Extension = {
  undo: tagUndo,
};
