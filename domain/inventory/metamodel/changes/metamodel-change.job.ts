import Type, { type Static } from 'typebox';
import { defineJob } from '../../../kernel/jobs/jobs.define.ts';

const Payload = Type.Object(
  {
    operation: Type.String({ maxLength: 50 }),
    key: Type.String({ maxLength: 100 }),
    role: Type.Optional(Type.String({ maxLength: 100 })),
    /** The body as it was sent and checked: what it asks for exists nowhere else before the job has run. */
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    force: Type.Boolean(),
    /** The language of the labels in `expected`. */
    language: Type.String({ maxLength: 40 }),
    /** ETag of what is to be changed; null where nothing is yet. */
    expected: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  },
  { additionalProperties: false },
);

/** What a change of the metamodel works on. */
export type MetamodelChangePayload = Static<typeof Payload>;

/**
 * Changes the metamodel and the values of many cards or relations with it, in one transaction; then counts the data
 * quality anew in batches.
 */
export const metamodelChangeJob = defineJob({
  kind: 'metamodel_change',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});
