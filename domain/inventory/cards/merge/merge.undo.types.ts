import type { Ctx, Work } from '../../../kernel/context.ts';
import type { MergeConflict } from './merge.conflicts.ts';
import type { MergeJournal } from './merge.journal.ts';

/** What undoing works with. */
export interface Undoing {
  work: Work;
  ctx: Ctx;
  journal: MergeJournal;
  survivorId: string;
  /** Whether a card of a status may lie below a parent, counting those that come back. */
  mayLieBelow(parent: string | null, status: string): boolean;
  /** Notes what is in the way. */
  conflict(conflict: MergeConflict): void;
}
