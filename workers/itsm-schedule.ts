import { startRun } from '../domain/exchange/itsm/runs.start.ts';
import { itsmScheduleJob } from '../domain/exchange/itsm/schedules.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { EstateError } from '../platform/errors.ts';

/**
 * Starts the run of a mapping whose time has come. What is paused or gone is left alone: the next slot
 * comes. Where a run is not over, it begins after that one.
 */
export const itsmScheduleProcessor = processes(itsmScheduleJob, async ({ ctx, payload }) => {
  try {
    const run = await startRun(ctx, { mappingId: payload.mapping_id, trigger: 'schedule' });
    return run === null
      ? { message: 'waits for the end of the run that is not over', result: null }
      : { message: 'started', result: { run_id: run } };
  } catch (error) {
    if (!(error instanceof EstateError) || !['wrong_state', 'not_found'].includes(error.code)) throw error;
    return { message: error.message, result: null };
  }
});
