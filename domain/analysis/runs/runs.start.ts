import type { TSchema } from 'typebox';
import { query, queryRows } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JobDefinition } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { abortRun, insertRun, lockRun } from './runs.store.ts';
import type { AnalysisType, analysisPayload } from './runs.types.ts';

/** The parameters of a run. */
export interface AnalysisRequest {
  type: AnalysisType;
  /** The job that executes it. */
  job: JobDefinition<typeof analysisPayload>;
  /** Stored with the run, and read by the job. */
  parameters?: Record<string, unknown>;
  /** The permission that the caller needs; `ai_analysis.manage` by default. */
  permission?: AppPermission;
}

/** The response to a request that started a run. */
export interface StartedRun {
  run_id: string;
  job_id: string;
  status: 'running';
  links: { self: string; job: string };
}

/** The path of runs in the API. */
export const RUNS_PATH = '/api/v1/ai-analysis/analysis-runs';

/**
 * Starts a run of an analysis as a job, which acts with the caller's current rights.
 * @throws EstateError `forbidden`; `wrong_state`, naming the run, while one of the kind is in progress.
 */
export async function startAnalysis(ctx: Ctx, request: AnalysisRequest): Promise<StartedRun> {
  requirePermission(ctx.caller, request.permission ?? 'ai_analysis.manage');
  return await command(ctx, (work) => startRun(ctx, work, request));
}

/** {@link startRun} within a command that has checked the permission. */
export async function startRun(
  ctx: Ctx,
  work: Work,
  { type, job, parameters = {} }: AnalysisRequest,
): Promise<StartedRun> {
  const { sql } = work;
  // Of two concurrent requests the second sees the run of the first.
  await query(sql).run`select pg_advisory_xact_lock(7203050, hashtext(${type}))`;
  await requireNoRun(work, type);
  const id = await insertRun(work, {
    analysis_type: type,
    parameters,
    created_by: ctx.caller.userId,
  });
  const started = await enqueueJob(ctx, work, job as JobDefinition<TSchema>, { run_id: id });
  await sql('analysis_runs').where({ id }).update({ job_id: started.job_id });
  return {
    run_id: id,
    job_id: started.job_id,
    status: 'running',
    links: { self: `${RUNS_PATH}/${id}`, job: started.links.self },
  };
}

/**
 * Requires that no run of the kind is in progress. A run whose job has ended or was deleted is cancelled.
 * @throws EstateError `wrong_state` naming the run.
 */
export async function requireNoRun(work: Work, type: AnalysisType): Promise<void> {
  const [other] = await query(work.sql).rows<{
    id: string;
    job_id: string | null;
    job_status: string | null;
  }>`select r.id, r.job_id, j.status as job_status from analysis_runs r left join jobs j on j.id = r.job_id
     where r.analysis_type = ${type} and r.status = 'running' for update of r`;
  if (!other) return;
  if (['queued', 'running'].includes(other.job_status ?? '')) {
    throw new EstateError('wrong_state', `A run of the analysis is in progress: ${other.id}.`, {
      extra: { analysis_type: type, run_id: other.id, job_id: other.job_id },
    });
  }
  await abortRun(work, other.id, { status: 'cancelled' });
}

/**
 * Cancels a queued or running run, whoever started it; its worker stops within two seconds.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` for a run that has ended.
 */
export async function cancelRun(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await lockRun(sql, id);
    if (run.status !== 'running')
      throw new EstateError('wrong_state', `The run has ended: it is ${run.status}.`, {
        extra: { run_id: id, run_status: run.status },
      });
    await query(sql).rows`update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ${run.job_id} and status in ('queued', 'running')`;
    const signals = [JOB_CANCEL_CHANNEL, run.job_id, JOB_STATE_CHANNEL, run.job_id];
    await queryRows(sql, 'select pg_notify(?, ?), pg_notify(?, ?)', signals);
    await abortRun(work, id, { status: 'cancelled' });
  });
}
