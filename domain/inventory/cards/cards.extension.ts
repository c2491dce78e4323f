import type { Extension } from '../../kernel/extensions.ts';
import { archivePurgeJob } from './archive-purge.job.ts';
import { mergeUndo } from './merge/merge.events.undo.ts';

/** Cards. Writes of cards and relations are undone in sets, by the rollback itself. */
export const cardsExtension: Extension = {
  undo: mergeUndo,
  jobs: [archivePurgeJob],
};
