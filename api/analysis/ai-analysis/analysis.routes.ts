import { OverviewSchema, readOverview, readStatus } from '../../../domain/analysis/runs/overview.ts';
import { BooleanOf, component } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const AnalysisStatusOut = component('AnalysisStatus', {
  ai_configured: BooleanOf('Whether a provider of language models is configured'),
  ready: BooleanOf('Whether analyses can be run: they need no language model'),
  enabled: BooleanOf('Whether the module is enabled'),
});

/** Availability of analyses, and an overview of the inventory. */
export function registerAnalysisRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'AI analysis' });

  routes.get('readAnalysisStatus', '/api/v1/ai-analysis/status', {
    summary: 'Read whether analyses can be run',
    permission: 'login',
    responses: ok('The status', AnalysisStatusOut),
    handler: ({ ctx }) => readStatus(ctx),
  });

  routes.get('readAnalysisOverview', '/api/v1/ai-analysis/overview', {
    summary: 'Read an overview of data quality and cost',
    permission: 'ai_analysis.view',
    module: 'ai_analysis',
    responses: ok('Of the active cards that the caller sees', OverviewSchema),
    handler: ({ ctx }) => readOverview(ctx),
  });
}
