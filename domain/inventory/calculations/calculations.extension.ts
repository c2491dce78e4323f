import type { Extension } from '../../kernel/extensions.ts';
import { calculationUndo } from './calculations.undo.ts';
import { recalculateJob } from './recalculate.job.ts';

/** Formulas. */
export const calculationsExtension: Extension = {
  undo: calculationUndo,
  jobs: [recalculateJob],
};
