import type { Extension } from '../../kernel/extensions.ts';
import { savedReportUndo } from './saved-reports.events.ts';

/** Saved reports. */
export const savedReportsExtension: Extension = {
  undo: savedReportUndo,
};
