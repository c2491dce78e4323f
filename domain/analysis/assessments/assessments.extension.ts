import type { Extension } from '../../kernel/extensions.ts';
import { assessmentUndo } from './assessments.events.ts';

/** Assessments of target architectures. */
export const assessmentsExtension: Extension = {
  undo: assessmentUndo,
};
