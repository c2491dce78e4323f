import Type from 'typebox';
import { defineJob } from '../jobs.define.ts';

/** Reads an uploaded file of cards or relations into the inventory. */
export const importJob = defineJob({
  kind: 'import',
  queue: 'bulk',
  payload: Type.Object({ file_id: Type.String({ format: 'uuid' }) }),
  attempts: 3,
  retentionDays: 90,
  resumable: true,
});
