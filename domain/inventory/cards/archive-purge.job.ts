import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Deletes the cards that were archived longer ago than the configured retention. */
export const archivePurgeJob = defineJob({
  kind: 'archive_purge',
  queue: 'routine',
  payload: Type.Object({}, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 30,
  resumable: true,
});
