import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { analysisRunList, runText } from '../../../domain/analysis/runs/runs.queries.ts';
import { AnalysisRun, cancelRun, RUNS_PATH, type StartedRun } from '../../../domain/analysis/runs/runs.ts';
import { itemComponent, NullableText } from '../../../domain/kernel/shapes.ts';
import { page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const AnalysisRunSchema = itemComponent('AnalysisRun', {
  ...AnalysisRun.columns,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  message: NullableText('The current step'),
});

/** Sends 202 with a started run. */
export const sendStarted = (reply: FastifyReply, run: StartedRun): FastifyReply =>
  reply.code(202).header('location', run.links.job).send(run);

/** Runs of analyses of all kinds. */
export function registerAnalysisRunRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'AI analysis', permission: 'ai_analysis.view', module: 'ai_analysis' });

  const run = (description: string) => ({ description, schema: AnalysisRunSchema });

  routes.list('listAnalysisRuns', RUNS_PATH, analysisRunList, {
    summary: 'List runs of analyses, the newest first',
    responses: page('Runs', AnalysisRunSchema),
  });

  routes.item('readAnalysisRun', `${RUNS_PATH}/:run_id`, analysisRunList, 'run', {
    summary: 'Read one run of an analysis',
    responses: { 200: run('The run') },
  });

  routes.post('cancelAnalysisRun', `${RUNS_PATH}/:run_id/cancel`, {
    summary: 'Cancel a run of an analysis',
    description: 'Its worker stops within two seconds. The response is 409 for a run that has ended.',
    permission: 'ai_analysis.manage',
    responses: { 200: run('The run, cancelled') },
    errors: ['wrong_state'],
    handler: async ({ ctx, params }) => {
      await cancelRun(ctx, params.run_id);
      return await runText(ctx, params.run_id);
    },
  });
}
