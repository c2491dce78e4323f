import { EstateError } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import { JobCancelled, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { makeRoom } from './runs.start.ts';
import { completeRun, lockRun, reopenRun } from './runs.store.ts';
import type { AnalysisOutcome, RunRow } from './runs.types.ts';

/** The job that carries out an analysis. */
export type AnalysisJob = RunningJob<{ run_id: string }>;

/** A run that is being carried out. */
export interface CarriedRun extends RunRow {
  /**
   * Ends run and job well with the caller's transaction: called last in the command that stores what was found, so that
   * both are there or neither.
   * @throws JobLeaseLost, JobCancelled: let them pass.
   */
  finish(work: Work, outcome: AnalysisOutcome): Promise<void>;
}

/**
 * Takes up the run of a job: at its beginning, after a worker's end, and when the job was asked for again.
 * @throws EstateError `wrong_state` where another run of the kind has begun meanwhile, or the run has ended.
 */
export async function takeUpRun(work: Work, job: AnalysisJob): Promise<CarriedRun> {
  const { sql } = work;
  await job.hold(work);
  const run = await lockRun(sql, job.payload.run_id);
  if (run.job_id !== job.id || run.status === 'completed')
    throw new EstateError('wrong_state', 'The run has ended.', { extra: { run_id: run.id } });
  if (run.status !== 'running') {
    await makeRoom(work, run.analysis_type);
    await reopenRun(work, run.id);
  }
  await sql('analysis_runs')
    .where({ id: run.id })
    .whereNull('started_at')
    .update({ started_at: sql.raw('clock_timestamp()') });
  return {
    ...run,
    status: 'running',
    async finish(ending, outcome) {
      await job.hold(ending);
      const { status } = await lockRun(ending.sql, run.id);
      if (status === 'cancelled') throw new JobCancelled();
      await completeRun(ending, run.id, outcome);
      await job.finish(ending, { result: { run_id: run.id, ...outcome.results } });
    },
  };
}
