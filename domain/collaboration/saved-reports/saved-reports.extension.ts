import { stillEditable } from '../../access/shares.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { mayEditSavedReport } from './saved-reports.commands.ts';
import { SavedReport } from './saved-reports.model.ts';
import { savedReportConsumers } from './saved-reports.references.ts';

/** Saved reports. */
export const savedReportsExtension: Extension = {
  resources: [
    {
      model: SavedReport,
      name: 'saved report',
      events: rowEvents('saved_report'),
      undo: {
        right: personal('saved_reports.create'),
        // users with whom it is shared for editing need no permission
        rights: { 'saved_report.updated': personal() },
        settle: stillEditable('saved_reports', 'saved report', mayEditSavedReport),
      },
      transfer: { label: 't.name', recipient: 'owner_id' },
    },
  ],
  consumers: [savedReportConsumers],
};
