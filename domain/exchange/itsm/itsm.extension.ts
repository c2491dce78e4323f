import type { Extension } from '../../kernel/extensions.ts';
import { itsmRunJob } from './runs.job.ts';
import { removeOldRuns } from './runs.retention.ts';
import { itsmScheduleJob } from './schedules.job.ts';

/** Synchronisation with ITSM systems. */
export const itsmExtension: Extension = {
  jobs: [itsmRunJob, itsmScheduleJob],
  cleanups: { itsm_runs: (sql, { itsm_runs_days }) => removeOldRuns(sql, itsm_runs_days) },
};
