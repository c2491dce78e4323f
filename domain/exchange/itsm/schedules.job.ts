import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** A slot in the schedule of a mapping has come: starts its run, unless one is not over. */
export const itsmScheduleJob = defineJob({
  kind: 'itsm_schedule',
  queue: 'routine',
  payload: Type.Object({ mapping_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 7,
  resumable: false,
});
