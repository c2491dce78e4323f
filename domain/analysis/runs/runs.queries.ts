import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** A job that was ended from outside ends its run. */
const status = `case when r.status = 'running' and coalesce(j.status, 'cancelled') in ('failed', 'cancelled')
  then coalesce(j.status, 'cancelled') else r.status end`;

const runs: ListSpec = {
  name: 'analysis-runs',
  from: 'analysis_runs r left join jobs j on j.id = r.job_id',
  id: 'r.id',
  idType: 'uuid',
  sorts: { created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'r.id',
    analysis_type: 'r.analysis_type',
    status,
    progress: `case when r.status = 'completed' then 1 else coalesce(j.progress, 0) end`,
    message: 'j.message',
    job_id: 'r.job_id',
    parameters: 'r.parameters',
    model_version: 'r.model_version',
    model_parts: 'r.model_parts',
    results: 'r.results',
    error_code: 'r.error_code',
    error_message: 'r.error_message',
    created_by: 'r.created_by',
    created_at: 'utc(r.created_at)',
    started_at: 'utc(r.started_at)',
    completed_at: 'utc(coalesce(r.completed_at, j.finished_at))',
  },
};

/** Runs of analyses, the newest first. @throws EstateError `forbidden`. */
export async function listRuns(
  ctx: Ctx,
  { analysis_type, status: asked, ...params }: ListParams & { analysis_type?: string; status?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  const conditions: Condition[] = [];
  if (analysis_type !== undefined) conditions.push({ sql: 'r.analysis_type = ?', bindings: [analysis_type] });
  if (asked !== undefined) conditions.push({ sql: `${status} = ?`, bindings: [asked] });
  return await runList(ctx.db, runs, conditions, params, { owner: ctx.caller.userId });
}

/** One run. @throws EstateError `forbidden`, `not_found`. */
export async function readRun(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  return await runText(ctx, id);
}

/** The same for whoever has been found to be allowed to cancel it. @throws EstateError `not_found`. */
export async function runText(ctx: Ctx, id: string): Promise<JsonText> {
  const item = projection(runs.members, undefined);
  const { rows } = await ctx.db.raw(`select ${item.sql}::text as item from ${runs.from} where r.id = ?`, [
    ...item.bindings,
    id,
  ] as never);
  if (!rows[0]) throw notFound('run', id);
  return rows[0].item;
}
