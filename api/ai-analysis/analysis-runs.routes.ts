import type { FastifyReply } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { listRuns, readRun, runFilters, runSorts, runText } from '../../domain/analysis/runs/runs.queries.ts';
import { cancelRun, RUNS_PATH, type StartedRun } from '../../domain/analysis/runs/runs.start.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { AnalysisRunSchema, StartedRunSchema } from '../schemas/analysis.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'AI analysis';
const ofRun = Type.Object({ run_id: Uuid }, closed);

/** Answers 202 with a started run. */
export const sendStarted = (reply: FastifyReply, run: StartedRun): FastifyReply =>
  reply.code(202).header('location', run.links.job).send(run);

/** Runs of analyses of all kinds. */
export function registerAnalysisRunRoutes(app: App): void {
  for (const schema of [AnalysisRunSchema, StartedRunSchema] as TSchema[]) app.addSchema(schema);
  const run = (description: string) => ({ description, schema: Type.Ref('AnalysisRun#') });

  operation(app, {
    method: 'GET',
    url: RUNS_PATH,
    id: 'listAnalysisRuns',
    tag,
    summary: 'List runs of analyses, the newest first',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    query: listQuery(runSorts, 'created_at', runFilters),
    answers: { 200: { description: 'Runs', schema: listAnswer(Type.Ref('AnalysisRun#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listRuns(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${RUNS_PATH}/:run_id`,
    id: 'readAnalysisRun',
    tag,
    summary: 'Read one run of an analysis',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    params: ofRun,
    answers: { 200: run('The run') },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRun(ctx, params.run_id)),
  });

  operation(app, {
    method: 'POST',
    url: `${RUNS_PATH}/:run_id/cancel`,
    id: 'cancelAnalysisRun',
    tag,
    summary: 'Cancel a run of an analysis',
    description: 'Its worker stops within two seconds. The answer is 409 for a run that has ended.',
    permission: 'ai_analysis.manage',
    module: 'ai_analysis',
    params: ofRun,
    answers: { 200: run('The run, cancelled') },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await cancelRun(ctx, params.run_id);
      return sendJson(reply, await runText(ctx, params.run_id));
    },
  });
}
