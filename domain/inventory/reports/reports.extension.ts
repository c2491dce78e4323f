import type { Extension } from '../../kernel/extensions.ts';
import { kpiSnapshotJob, reportJob, reportQueryJob } from './report.job.ts';

/** Reports and queries executed by jobs, and the daily figures. */
export const reportsExtension: Extension = { jobs: [reportQueryJob, reportJob, kpiSnapshotJob] };
