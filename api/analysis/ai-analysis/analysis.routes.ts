import { OverviewSchema, readOverview, readStatus } from '../../../domain/analysis/runs/overview.ts';
import { ok, routesOf } from '../../operation.ts';
import { AnalysisStatusOut } from '../../schemas/analysis.ts';
import type { App } from '../../types.ts';

/** Availability of analyses, and an overview of the inventory. */
export function registerAnalysisRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'AI analysis' });

  routes.get('/api/v1/ai-analysis/status', {
    id: 'readAnalysisStatus',
    summary: 'Read whether analyses can be run',
    permission: 'login',
    answers: ok('The status', AnalysisStatusOut),
    handler: ({ ctx }) => readStatus(ctx),
  });

  routes.get('/api/v1/ai-analysis/overview', {
    id: 'readAnalysisOverview',
    summary: 'Read an overview of data quality and cost',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    answers: ok('Of the active cards that the caller sees', OverviewSchema),
    handler: ({ ctx }) => readOverview(ctx),
  });
}
