import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

const Payload = Type.Object({ user_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false });

/** The user whose name and address are replaced. */
export type EraseUserPayload = Static<typeof Payload>;

/** Replaces a user's name and address in all texts that the service has written. */
export const eraseUserJob = defineJob({
  kind: 'erase_user',
  queue: 'routine',
  payload: Payload,
  attempts: 5,
  resumable: false,
});
