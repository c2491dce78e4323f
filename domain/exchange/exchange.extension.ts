import type { Extension } from '../kernel/extensions.ts';
import { needs } from '../kernel/undo/undo.types.ts';
import { archimateExportJob, archimateImportJob } from './archimate/archimate.jobs.ts';
import { exportJob, scheduledExtractionJob } from './exports/export.job.ts';
import { scheduleConsumers } from './exports/exports.references.ts';
import { undoRename } from './exports/exports.rename.ts';
import { importJob } from './imports/imports.job.ts';
import { removeStale } from './imports/imports.staged.clean.ts';
import { odataConsumers, removeOldReads } from './odata/odata-reads.ts';

/** Imports, exports and extractions by jobs, and ArchiMate models. */
export const exchangeExtension: Extension = {
  jobs: [importJob, archimateImportJob, archimateExportJob, exportJob, scheduledExtractionJob],
  consumers: [scheduleConsumers, odataConsumers],
  undo: [
    {
      entity: 'extraction_schedule',
      events: { updated: ['extraction_schedule.renamed'] },
      undo: undoRename,
    },
  ],
  undoRights: { 'extraction_schedule.renamed': needs('admin.metamodel') },
  cleanups: { imports: removeStale, odata_reads: removeOldReads },
};
