import type { Extension } from '../extensions.ts';
import { savedReportUndo } from './saved-reports.events.ts';

/** Saved reports. */
export const savedReportsExtension: Extension = {
  undo: savedReportUndo,
};
