import type { Extension } from '../extensions.ts';
import { assessmentUndo } from './assessments.events.ts';

/** Assessments of target architectures. */
export const assessmentsExtension: Extension = {
  undo: assessmentUndo,
};
