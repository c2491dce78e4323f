import Type from 'typebox';
import { defineJob } from '../kernel/jobs/jobs.define.ts';

/** Deletes expired files, keys, tokens, counters, old events and finished jobs. */
export const housekeepingJob = defineJob({
  kind: 'housekeeping',
  queue: 'routine',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 3,
  retentionDays: 7,
  resumable: false,
});
