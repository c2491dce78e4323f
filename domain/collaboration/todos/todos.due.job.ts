import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Opens the scheduled to-dos whose lead time has begun. */
export const todosDueJob = defineJob({
  kind: 'todos_due',
  queue: 'routine',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 30,
  resumable: true,
});
