import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/** Rolls back a large batch, or previews that, in one transaction. */
export const batchRollbackJob = defineJob({
  kind: 'batch_rollback',
  queue: 'bulk',
  payload: Type.Object(
    { batch_id: Type.String({ format: 'uuid' }), dry_run: Type.Boolean(), force: Type.Boolean() },
    { additionalProperties: false },
  ),
  attempts: 3,
  resumable: false,
});
