import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';

/** Stores the landscape's key figures under the slot of its schedule. */
export const kpiSnapshotJob = defineJob({
  kind: 'kpi_snapshot',
  queue: 'routine',
  payload: object({}),
  attempts: 5,
  retentionDays: 30,
  resumable: false,
});
