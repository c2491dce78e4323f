import type { Services } from '../../../domain/kernel/services.ts';
import { rewordInsights } from '../../../integrations/models/insights.ts';
import { readPortfolioInsights } from '../../../reports/analysis/portfolio-insights/portfolio-insights.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { ok, routesOf } from '../../operation.ts';
import { InsightsBody, PortfolioInsightsSchema } from '../../schemas/ai.ts';
import type { App } from '../../types.ts';

/** Insights about the application portfolio. */
export function registerInsightRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.post('/api/v1/ai/portfolio-insights', {
    id: 'readPortfolioInsights',
    summary: 'Read insights about the application portfolio',
    description:
      'Facts are computed from the applications that the caller sees, and written as sentences; no model is needed. If the settings enable it, a language model rephrases those without names and costs; a text with other numbers is discarded.',
    permission: 'ai.portfolio_insights',
    permissionNote: 'inventory.view; relations.view; costs.view for costs',
    body: InsightsBody,

    answers: ok('Insights', PortfolioInsightsSchema),
    handler: async ({ ctx, body, request }) => {
      const { insights } = await readPortfolioInsights(ctx, body);
      return await rewordInsights(services, await settingsOf(services, request), insights);
    },
  });
}
