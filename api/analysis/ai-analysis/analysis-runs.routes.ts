import type { FastifyReply } from 'fastify';
import {
  listRuns,
  readRun,
  runFilters,
  runSorts,
  runText,
} from '../../../domain/analysis/runs/runs.queries.ts';
import { cancelRun, RUNS_PATH, type StartedRun } from '../../../domain/analysis/runs/runs.ts';
import { page, routesOf } from '../../operation.ts';
import { AnalysisRunSchema } from '../../schemas/analysis.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

/** Sends 202 with a started run. */
export const sendStarted = (reply: FastifyReply, run: StartedRun): FastifyReply =>
  reply.code(202).header('location', run.links.job).send(run);

/** Runs of analyses of all kinds. */
export function registerAnalysisRunRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'AI analysis' });

  const run = (description: string) => ({ description, schema: AnalysisRunSchema });

  routes.get(RUNS_PATH, {
    id: 'listAnalysisRuns',
    summary: 'List runs of analyses, the newest first',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    query: listQuery(runSorts, 'created_at', runFilters),
    answers: page('Runs', AnalysisRunSchema),
    handler: ({ ctx, query }) => listRuns(ctx, query),
  });

  routes.get(`${RUNS_PATH}/:run_id`, {
    id: 'readAnalysisRun',
    summary: 'Read one run of an analysis',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    answers: { 200: run('The run') },
    handler: ({ ctx, params }) => readRun(ctx, params.run_id),
  });

  routes.post(`${RUNS_PATH}/:run_id/cancel`, {
    id: 'cancelAnalysisRun',
    summary: 'Cancel a run of an analysis',
    description: 'Its worker stops within two seconds. The response is 409 for a run that has ended.',
    permission: 'ai_analysis.manage',
    module: 'ai_analysis',
    answers: { 200: run('The run, cancelled') },
    errors: ['wrong_state'],
    handler: async ({ ctx, params }) => {
      await cancelRun(ctx, params.run_id);
      return await runText(ctx, params.run_id);
    },
  });
}
