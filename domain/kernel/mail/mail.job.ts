import Type from 'typebox';
import { defineJob } from '../jobs/jobs.define.ts';

/** Gives one mail to the mail server. A server that is away is tried again for about a day. */
export const mailJob = defineJob({
  kind: 'mail',
  queue: 'mail',
  payload: Type.Object({ mail_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 55,
  longestWaitSeconds: 1800,
  retentionDays: 30,
  resumable: false,
});
