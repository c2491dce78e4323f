import Type from 'typebox';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { StaticOf } from '../../kernel/shapes.ts';
import { AnalysisRun } from './runs.ts';

/** A run ends with its job. */
const status = `case when r.status = 'running' and coalesce(j.status, 'cancelled') in ('failed', 'cancelled')
  then coalesce(j.status, 'cancelled') else r.status end`;

export const runSorts: Record<string, SortField> = {
  created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true },
};

const { analysis_type: AnalysisType, status: RunStatus } = AnalysisRun.columns;
export const runFilters = {
  analysis_type: Type.Optional(AnalysisType),
  status: Type.Optional({ ...RunStatus, description: 'Only runs in this state' }),
};

const runs: ListSpec = {
  name: 'analysis-runs',
  from: 'analysis_runs r left join jobs j on j.id = r.job_id',
  id: 'r.id',
  sorts: runSorts,
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: { analysis_type: 'r.analysis_type = ?', status: `${status} = ?` },
  members: {
    ...columnMembers('r', AnalysisRun),
    status,
    progress: `case when r.status = 'completed' then 1 else coalesce(j.progress, 0) end`,
    message: 'j.message',
    completed_at: 'utc(coalesce(r.completed_at, j.finished_at))',
  },
};

/** Runs of analyses, the newest first. @throws EstateError `forbidden`. */
export async function listRuns(
  ctx: Ctx,
  filter: ListParams & StaticOf<typeof runFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  return await runList(ctx, runs, [], filter);
}

/** One run. @throws EstateError `forbidden`, `not_found`. */
export async function readRun(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  return await runText(ctx, id);
}

/** {@link readRun} without a check of the permission. @throws EstateError `not_found`. */
export const runText = (ctx: Ctx, id: string): Promise<JsonText> => readItem(ctx.db, runs, 'run', id);
