import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { AnalysisRun } from './runs.ts';

/** The status of a run `r` with the job `j`: a job that was ended by others also ends its run. */
export const runStatus = `case when r.status = 'running' and coalesce(j.status, 'cancelled') in ('failed', 'cancelled')
  then coalesce(j.status, 'cancelled') else r.status end`;

const { analysis_type: AnalysisType, status: RunStatus } = AnalysisRun.columns;

/** Runs of analyses, the newest first. */
export const analysisRunList = defineList({
  name: 'analysis-runs',
  permission: 'ai_analysis.view',
  from: 'analysis_runs r left join jobs j on j.id = r.job_id',
  id: 'r.id',
  sorts: { created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    analysis_type: [AnalysisType, 'r.analysis_type = ?'],
    status: [{ ...RunStatus, description: 'Only runs in this state' }, `${runStatus} = ?`],
  },
  members: {
    ...columnMembers('r', AnalysisRun),
    status: runStatus,
    progress: `case when r.status = 'completed' then 1 else coalesce(j.progress, 0) end`,
    message: 'j.message',
    completed_at: 'utc(coalesce(r.completed_at, j.finished_at))',
  },
});

/** One run, without a check of the permission. @throws EstateError `not_found`. */
export const runText = (ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(ctx.db, analysisRunList, 'run', id);
