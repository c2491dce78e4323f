import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Opens the scheduled occurrences of mitigation tasks whose lead time has begun. */
export const mitigationsDueJob = defineJob({
  kind: 'mitigations_due',
  queue: 'routine',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 30,
  resumable: true,
});
