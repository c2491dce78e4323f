import Type, { type Static } from 'typebox';
import { defineJob } from '../kernel/jobs/jobs.define.ts';

const Payload = Type.Object({ email: Type.String({ maxLength: 320 }) }, { additionalProperties: false });

/** The address from the request. */
export type PasswordResetPayload = Static<typeof Payload>;

/** Looks up the account of the address, and mails a link. */
export const passwordResetJob = defineJob({
  kind: 'password_reset',
  queue: 'routine',
  payload: Payload,
  attempts: 5,
  retentionDays: 1,
  resumable: false,
});
