import type { Extension } from '../../kernel/extensions.ts';
import { exportJob } from './export.job.ts';
import { kpiSnapshotJob } from './kpi-snapshot.job.ts';
import { reportJob } from './report.job.ts';
import { reportQueryJob } from './report-query.job.ts';
import { scheduledExtractionJob } from './scheduled-extraction.job.ts';

/** Exports, extractions and reports that are computed by jobs. */
export const exportsExtension: Extension = {
  jobs: [exportJob, reportQueryJob, reportJob, scheduledExtractionJob, kpiSnapshotJob],
};
