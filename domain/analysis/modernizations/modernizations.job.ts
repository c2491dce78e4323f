import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Scores the cards of a type for modernization. */
export const modernizationsJob = defineJob({
  kind: 'modernizations',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
