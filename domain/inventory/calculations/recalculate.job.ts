import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

const Payload = Type.Object({ type_key: Type.String({ maxLength: 100 }) }, { additionalProperties: false });

/** Whose cards are computed. */
export type RecalculatePayload = Static<typeof Payload>;

/** Runs the active formulas of a card type over all its cards, batch by batch. */
export const recalculateJob = defineJob({
  kind: 'recalculate',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});
