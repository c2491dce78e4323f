import type { Work } from '../../command.ts';
import type { Ctx } from '../../context.ts';
import type { MergeConflict } from './merge.conflicts.ts';
import type { MergeJournal } from './merge.journal.ts';

/** What undoing works with. */
export interface Undoing {
  work: Work;
  ctx: Ctx;
  journal: MergeJournal;
  survivorId: string;
  /** Notes what is in the way. */
  conflict(conflict: MergeConflict): void;
}
