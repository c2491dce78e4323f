import Type, { type Static, type TSchema } from 'typebox';
import { query, queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { withLiterals } from '../../../platform/literals.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command, commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { defineJob, type JobDefinition } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { JobCancelled, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { insertRow, lockRow, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import {
  Choice,
  Count,
  component,
  DateOnly,
  Flag,
  Nullable,
  NullableText,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../kernel/shapes.ts';
import {
  type AnalysisOutcome,
  type AnalysisType,
  analysisPayload,
  analysisTypes,
  ModelPart,
  runStatuses,
} from './runs.types.ts';

export class AnalysisRun extends rowModel('analysis_runs', {
  id: Uuid,
  analysis_type: Choice(analysisTypes, 'What is analysed'),
  status: Choice(runStatuses),
  parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'Those of the request' }),
  model_version: NullableText('The version of the learned model that was applied'),
  results: Nullable(OpenObject),
  model_parts: Type.Array(ModelPart, { description: 'The parts that used a language model' }),
  error_code: Nullable(Type.String()),
  error_message: Nullable(Type.String()),
  job_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
}) {}
type RunRow = RowOf<typeof AnalysisRun>;

const tokens = { calls: Count, tokens_in: Count, tokens_out: Count };

/** The usage of language models by day. */
export class AiUsage extends rowModel('ai_usage', {
  day: DateOnly,
  run_id: Nullable(Uuid),
  purpose: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  ...tokens,
  tokens_reserved: Count,
  id: Uuid,
}) {}

/** The outcomes of requests to language models. */
export class AiOutcome extends rowModel('ai_outcomes', {
  provider: Type.String(),
  purpose: Type.String(),
  outcome: Type.String(),
  questions: Count,
  ...tokens,
}) {}

/** The undo declaration of resources whose rows are recomputed by the next run of an analysis. */
export const computedByRuns = {
  events: {},
  undo: { refused: 'The next run computes it again.' },
  transfer: { excluded: 'derived', reason: 'The next run computes it again.' },
} as const satisfies Partial<Resource>;

/** A job that executes a run; an interrupted one resumes with the current step. */
const analysisJob = (kind: string) =>
  defineJob({ kind, queue: 'bulk', payload: analysisPayload, attempts: 3, resumable: true });

/** Finds cards that represent the same object. */
export const duplicatesJob = analysisJob('duplicates');
/** Scores the cards of a type for modernization. */
export const modernizationsJob = analysisJob('modernizations');
/** Identifies the suppliers and the category of each. */
export const vendorsJob = analysisJob('vendors');
/** Identifies the hierarchy of suppliers, and their products. */
export const vendorHierarchyJob = analysisJob('vendor_hierarchy');
/** Checks the landscape by the rules of regulations. */
export const complianceScanJob = analysisJob('compliance_scan');

type Writing = Pick<Work, 'sql' | 'emit'>;

/** Reads and locks a run. @throws EstateError `not_found`. */
export async function lockRun(sql: Sql, id: string): Promise<RunRow> {
  const row = await lockRow(sql, AnalysisRun, { id });
  if (!row) throw notFound('run', id);
  return row;
}

/** Inserts a run, with its event. @returns its id. */
async function insertRun({ sql, emit }: Writing, values: Partial<RunRow>): Promise<string> {
  const row = await insertRow(sql, AnalysisRun, values);
  emit({ event_type: 'analysis_run.started', data: { id: row.id, changes: rowChanges(null, row) } });
  return row.id;
}

async function updateRun(
  { sql, emit }: Writing,
  id: string,
  event: EventType,
  change: Record<string, unknown>,
): Promise<void> {
  const before = await lockRun(sql, id);
  await sql('analysis_runs').where({ id }).update(change);
  emit({ event_type: event, data: { id, changes: rowChanges(before, await lockRun(sql, id)) } });
}

/** Reopens a run whose job was retried after its end. */
async function reopenRun(work: Writing, id: string): Promise<void> {
  await updateRun(work, id, 'analysis_run.started', {
    status: 'running',
    error_code: null,
    error_message: null,
    completed_at: null,
  });
}

/** Completes a run. */
async function completeRun(
  work: Writing,
  id: string,
  { results, modelVersion = null, modelParts = [] }: AnalysisOutcome,
): Promise<void> {
  await updateRun(work, id, 'analysis_run.completed', {
    status: 'completed',
    results: JSON.stringify(results),
    model_version: modelVersion,
    model_parts: JSON.stringify(modelParts),
    completed_at: work.sql.raw('clock_timestamp()'),
  });
}

/** Ends a run without results. */
export async function abortRun(
  work: Writing,
  id: string,
  end: { status: 'cancelled' } | { status: 'failed'; error_code: string; error_message: string },
): Promise<void> {
  const event = `analysis_run.${end.status}` as const;
  await updateRun(work, id, event, { ...end, completed_at: work.sql.raw('clock_timestamp()') });
}

/** The parameters of a run. */
interface AnalysisRequest {
  type: AnalysisType;
  /** The job that executes it. */
  job: JobDefinition<typeof analysisPayload>;
  /** Stored with the run, and read by the job. */
  parameters?: Record<string, unknown>;
  /** The permission that the caller needs; `ai_analysis.manage` by default. */
  permission?: AppPermission;
  /** Only check whether the run could start: its ids will not exist. */
  dryRun?: boolean | undefined;
}

/** The response of every operation that starts a run. */
export const StartedRunSchema = component('StartedRun', {
  run_id: Uuid,
  job_id: Uuid,
  status: Type.Literal('running'),
  links: object({ self: Type.String(), job: Type.String() }),
});
export type StartedRun = Static<typeof StartedRunSchema>;

/** The query of every operation that starts a run. */
export const startedRunQuery = object({
  dry_run: Flag('Return the same response without starting the run: its ids do not exist'),
});

/** The path of runs in the API. */
export const RUNS_PATH = '/api/v1/ai-analysis/analysis-runs';

/**
 * Starts a run of an analysis as a job, which acts with the caller's current rights.
 * @throws EstateError `forbidden`; `wrong_state`, naming the run, while one of the kind is in progress.
 */
export async function startAnalysis(ctx: Ctx, request: AnalysisRequest): Promise<StartedRun> {
  requirePermission(ctx.caller, request.permission ?? 'ai_analysis.manage');
  return await commandWith(ctx, { dryRun: request.dryRun ?? false }, (work) => startRun(ctx, work, request));
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
  const id = await insertRun(work, { analysis_type: type, parameters, created_by: ctx.caller.userId });
  const started = await enqueueJob(ctx, work, job as JobDefinition<TSchema>, { run_id: id });
  await sql('analysis_runs').where({ id }).update({ job_id: started.job_id });
  const self = `${RUNS_PATH}/${id}`;
  return { run_id: id, job_id: started.job_id, status: 'running', links: { self, job: started.links.self } };
}

/**
 * Requires that no run of the kind is in progress. A run whose job has ended or was deleted is cancelled.
 * @throws EstateError `wrong_state` naming the run.
 */
async function requireNoRun(work: Work, type: AnalysisType): Promise<void> {
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
  await job.lock(work);
  const run = await lockRun(sql, job.payload.run_id);
  if (run.job_id !== job.id || run.status === 'completed')
    throw new EstateError('wrong_state', 'The run has ended.', { extra: { run_id: run.id } });
  if (run.status !== 'running') {
    await requireNoRun(work, run.analysis_type);
    await reopenRun(work, run.id);
  }
  await query(sql).run`update analysis_runs set started_at = clock_timestamp()
    where id = ${run.id} and started_at is null`;
  return {
    ...run,
    status: 'running',
    async finish(ending, outcome) {
      await job.lock(ending);
      const { status } = await lockRun(ending.sql, run.id);
      if (status === 'cancelled') throw new JobCancelled();
      await completeRun(ending, run.id, outcome);
      await job.finish(ending, { result: { run_id: run.id, ...outcome.results } });
    },
  };
}

/** Results of analyses reveal cards and relations, so both permissions are required. @throws EstateError `forbidden`. */
export function requireFindings(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ai_analysis.view');
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
}

/** The visible active cards, over the alias `c`, for SQL without bindings. */
export function visibleCardsSql(ctx: Ctx): string {
  const { sql, bindings } = visibleCards(ctx);
  // An unescaped question mark would be a binding.
  return `c.status = 'ACTIVE' and (${withLiterals(sql, bindings).replaceAll('?', '\\?')})`;
}
