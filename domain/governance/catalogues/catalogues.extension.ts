import type { Extension } from '../../kernel/extensions.ts';
import { catalogueUndo } from './catalogues.undo.ts';

/** Reference catalogues. */
export const cataloguesExtension: Extension = {
  undo: catalogueUndo,
};
