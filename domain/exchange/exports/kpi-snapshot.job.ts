import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Stores the landscape's key figures under the slot of its schedule. */
export const kpiSnapshotJob = defineJob({
  kind: 'kpi_snapshot',
  queue: 'routine',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 30,
  resumable: false,
});
