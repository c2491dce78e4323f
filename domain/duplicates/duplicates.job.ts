import { analysisPayload } from '../analysis/runs.types.ts';
import { defineJob } from '../jobs/jobs.define.ts';

/** Finds cards that stand for one thing. It goes on with the stage at which it was. */
export const duplicatesJob = defineJob({
  kind: 'duplicates',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
