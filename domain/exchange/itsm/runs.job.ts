import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { whyRunIsOver } from './runs.over.ts';

/**
 * Carries a run of the synchronisation on: from its beginning to its plan, and from an approved plan to its end. A
 * remote that is away is waited for, for about half an hour.
 */
export const itsmRunJob = defineJob({
  kind: 'itsm_run',
  queue: 'bulk',
  payload: Type.Object({ run_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  // waits of 2 to 512 seconds, each twice as long as the one before, and one of 600
  attempts: 11,
  longestWaitSeconds: 600,
  resumable: true,
  // also of runs that a schedule, a change or somebody else has started
  watchedWith: 'itsm_sync.view',
  whyNotAgain: (sql, { id, payload }) => whyRunIsOver(sql, payload.run_id, id),
});
