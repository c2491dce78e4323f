import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Reads anew what the world says of the end of products' lives. */
export const eolRefreshJob = defineJob({
  kind: 'eol_refresh',
  queue: 'bulk',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 6,
  longestWaitSeconds: 900,
  retentionDays: 30,
  resumable: true,
});
