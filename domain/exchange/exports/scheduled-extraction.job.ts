import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/**
 * One run of an extraction schedule. Its file is made once and then brought to its destination; a destination that is
 * away is tried again for about half an hour.
 */
export const scheduledExtractionJob = defineJob({
  kind: 'scheduled_extraction',
  queue: 'bulk',
  payload: Type.Object({ schedule_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 12,
  longestWaitSeconds: 600,
  resumable: true,
});
