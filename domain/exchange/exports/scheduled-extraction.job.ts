import Type from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';

/**
 * One run of an extraction schedule. Its file is created once and then delivered to its destination; an unavailable
 * destination is retried for about half an hour.
 */
export const scheduledExtractionJob = defineJob({
  kind: 'scheduled_extraction',
  queue: 'bulk',
  payload: object({ schedule_id: Type.String({ format: 'uuid' }) }),
  attempts: 12,
  longestWaitSeconds: 600,
  resumable: true,
});
