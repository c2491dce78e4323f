import Type, { type Static } from 'typebox';
import { defineJob } from '../kernel/jobs/jobs.define.ts';

const Payload = Type.Object({ email: Type.String({ maxLength: 320 }) }, { additionalProperties: false });

/** The address as somebody has given it. */
export type PasswordResetPayload = Static<typeof Payload>;

/** Looks up who has forgotten the password, and mails a link. */
export const passwordResetJob = defineJob({
  kind: 'password_reset',
  queue: 'routine',
  payload: Payload,
  attempts: 5,
  retentionDays: 1,
  resumable: false,
});
