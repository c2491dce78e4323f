import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';

/**
 * One run of an extraction schedule. Its file is made once and then brought to its destination; a destination that is
 * away is tried again for about half an hour.
 */
export const scheduledExtractionJob = defineJob({
  kind: 'scheduled_extraction',
  queue: 'bulk',
  payload: object({ schedule_id: Type.String({ format: 'uuid' }) }),
  attempts: 12,
  longestWaitSeconds: 600,
  resumable: true,
});
