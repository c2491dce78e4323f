import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { SavedReport } from './saved-reports.model.ts';

/** Saved reports. */
export const savedReportsExtension: Extension = {
  resources: [
    {
      model: SavedReport,
      name: 'saved report',
      events: rowEvents('saved_report'),
      undo: { right: personal('saved_reports.create') },
      transfer: { label: 't.name', recipient: 'owner_id' },
    },
  ],
};
