import { EstateError } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import { JobCancelled, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { RunRow } from './runs.model.ts';
import { requireNoRun } from './runs.start.ts';
import { completeRun, lockRun, reopenRun } from './runs.store.ts';
import type { AnalysisOutcome } from './runs.types.ts';

/** The job that executes an analysis. */
export type AnalysisJob = RunningJob<{ run_id: string }>;

/** A run that is being executed. */
export interface ActiveRun extends RunRow {
  /**
   * Completes run and job in the caller's transaction. The command that stores the results calls it at the end, so that
   * both are committed or neither.
   * @throws JobLeaseLost, JobCancelled: do not catch them.
   */
  finish(work: Work, outcome: AnalysisOutcome): Promise<void>;
}

/**
 * Starts or resumes the run of a job, also after a retry of the job.
 * @throws EstateError `wrong_state` if another run of the kind is in progress, or the run has ended.
 */
export async function resumeRun(work: Work, job: AnalysisJob): Promise<ActiveRun> {
  const { sql } = work;
  await job.hold(work);
  const run = await lockRun(sql, job.payload.run_id);
  if (run.job_id !== job.id || run.status === 'completed')
    throw new EstateError('wrong_state', 'The run has ended.', { extra: { run_id: run.id } });
  if (run.status !== 'running') {
    await requireNoRun(work, run.analysis_type);
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
