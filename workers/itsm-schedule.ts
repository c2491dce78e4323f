import { startRun } from '../domain/itsm/runs.start.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { itsmScheduleJob } from '../domain/jobs/kinds/itsm-schedule.ts';
import { EstateError } from '../platform/errors.ts';

/** Starts the run of a mapping whose time has come. What is paused, gone or busy is left alone: the next slot comes. */
export const itsmScheduleProcessor = processes(itsmScheduleJob, async ({ ctx, payload }) => {
  try {
    const run = await startRun(ctx, { mappingId: payload.mapping_id, trigger: 'schedule' });
    return run === null
      ? { message: 'a run is not over yet', result: null }
      : { message: 'started', result: { run_id: run } };
  } catch (error) {
    if (!(error instanceof EstateError) || !['wrong_state', 'not_found'].includes(error.code)) throw error;
    return { message: error.message, result: null };
  }
});
