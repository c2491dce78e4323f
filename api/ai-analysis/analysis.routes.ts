import type { TSchema } from 'typebox';
import Type from 'typebox';
import { OverviewSchema, readOverview, readStatus } from '../../domain/analysis/runs/overview.ts';
import { operation } from '../operation.ts';
import { AnalysisStatusOut } from '../schemas/analysis.ts';
import type { App } from '../types.ts';

const tag = 'AI analysis';
const base = '/api/v1/ai-analysis';

/** Whether analyses can be run, and the landscape at a glance. */
export function registerAnalysisRoutes(app: App): void {
  for (const schema of [AnalysisStatusOut, OverviewSchema] as TSchema[]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: `${base}/status`,
    id: 'readAnalysisStatus',
    tag,
    summary: 'Tell whether analyses can be run',
    permission: 'login',
    answers: { 200: { description: 'The status', schema: Type.Ref('AnalysisStatus#') } },
    handler: async ({ ctx }) => await readStatus(ctx),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/overview`,
    id: 'readAnalysisOverview',
    tag,
    summary: 'Read the landscape’s quality and cost at a glance',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    answers: {
      200: {
        description: 'Of the active cards that the caller sees',
        schema: Type.Ref('AnalysisOverview#'),
      },
    },
    handler: async ({ ctx }) => await readOverview(ctx),
  });
}
