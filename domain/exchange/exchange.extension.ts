import type { Extension } from '../kernel/extensions.ts';
import { archimateExportJob, archimateImportJob } from './archimate/archimate.jobs.ts';
import { exportJob } from './exports/export.job.ts';
import { kpiSnapshotJob } from './exports/kpi-snapshot.job.ts';
import { reportJob } from './exports/report.job.ts';
import { reportQueryJob } from './exports/report-query.job.ts';
import { scheduledExtractionJob } from './exports/scheduled-extraction.job.ts';
import { importJob } from './imports/imports.job.ts';
import { removeStale } from './imports/imports.staging.ts';

/** Imports, exports, extractions and reports by jobs, and ArchiMate models. */
export const exchangeExtension: Extension = {
  jobs: [
    importJob,
    archimateImportJob,
    archimateExportJob,
    exportJob,
    reportQueryJob,
    reportJob,
    scheduledExtractionJob,
    kpiSnapshotJob,
  ],
  cleanups: { imports: removeStale },
};
