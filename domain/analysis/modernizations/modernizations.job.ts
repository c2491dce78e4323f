import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Ranks the cards of a type by how much speaks for modernising them. */
export const modernizationsJob = defineJob({
  kind: 'modernizations',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
