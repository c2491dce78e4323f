import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Finds cards that stand for one thing. It goes on with the stage at which it was. */
export const duplicatesJob = defineJob({
  kind: 'duplicates',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
