import { stillEditable } from '../../access/shares.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { mayEditSavedReport } from './saved-reports.commands.ts';
import { SavedReport, type SavedReportRow } from './saved-reports.model.ts';
import { savedReportConsumers } from './saved-reports.references.ts';
import { keepSeen } from './saved-reports.seen.ts';

const mayBeEdited = stillEditable('saved_reports', 'saved report', mayEditSavedReport)!;
type Config = SavedReportRow['config'];

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
        async settle(work, ctx, event) {
          const refusal = await mayBeEdited(work, ctx, event);
          const { config } = event.data.changes;
          // whoever undoes a rename changes nothing but the names
          if (!refusal && event.data.is_rename === true && config)
            await keepSeen(
              work.sql,
              { id: event.id, config: config.new as Config },
              { expected: config.old },
            );
          return refusal;
        },
      },
      transfer: { label: 't.name', recipient: 'owner_id' },
    },
  ],
  consumers: [savedReportConsumers],
};
