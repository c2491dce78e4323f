import Type, { type Static } from 'typebox';
import { defineJob } from '../kernel/jobs/jobs.define.ts';
import { Uuid } from '../kernel/shapes.ts';

const Payload = Type.Object({ request: Uuid }, { additionalProperties: false });

/** The registration whose mail is to be sent. */
export type RegistrationPayload = Static<typeof Payload>;

/** Looks up whether the address of a registration has an account, and mails accordingly. */
export const registrationJob = defineJob({
  kind: 'registration',
  queue: 'routine',
  payload: Payload,
  attempts: 5,
  retentionDays: 1,
  resumable: false,
});
