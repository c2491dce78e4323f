import { analysisPayload } from '../analysis/runs.types.ts';
import { defineJob } from '../jobs/jobs.define.ts';

/** Ranks the cards of a type by how much speaks for modernising them. */
export const modernizationsJob = defineJob({
  kind: 'modernizations',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
