import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Finds cards that represent the same object; resumes with the current stage. */
export const duplicatesJob = defineJob({
  kind: 'duplicates',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
