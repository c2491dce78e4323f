import type { Extension } from '../../kernel/extensions.ts';
import { metamodelChangeJob } from './changes/metamodel-change.job.ts';
import { metamodelUndo } from './changes/undo.ts';

/** Card types, relation types and their rules. */
export const metamodelExtension: Extension = {
  undo: metamodelUndo,
  jobs: [metamodelChangeJob],
};
