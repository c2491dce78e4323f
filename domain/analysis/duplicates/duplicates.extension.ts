import type { Extension } from '../../kernel/extensions.ts';
import { duplicatesJob } from './duplicates.job.ts';
import { duplicateUndo } from './duplicates.undo.ts';

/** Detection of duplicates. */
export const duplicatesExtension: Extension = {
  undo: duplicateUndo,
  jobs: [duplicatesJob],
};
