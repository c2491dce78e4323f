import Type from 'typebox';
import { defineJob } from '../jobs.define.ts';

/** Writes a part of the inventory to a file, from one snapshot; an interrupted one begins anew. */
export const exportJob = defineJob({
  kind: 'export',
  queue: 'bulk',
  payload: Type.Object({}),
  attempts: 3,
  retentionDays: 30,
  resumable: false,
});
