import type { Services } from '../../../domain/kernel/services.ts';
import { rewordInsights } from '../../../integrations/models/insights.ts';
import { readPortfolioInsights } from '../../../reports/analysis/portfolio-insights/portfolio-insights.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { routesOf } from '../../operation.ts';
import { InsightsBody, PortfolioInsightsSchema } from '../../schemas/ai.ts';
import type { App } from '../../types.ts';

/** What the applications say about themselves. */
export function registerInsightRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.post('/api/v1/ai/portfolio-insights', {
    id: 'readPortfolioInsights',
    summary: 'Read what the applications say about themselves',
    description:
      'Facts are computed from the applications that the caller sees, and said in plain words; no model is needed. Where the settings ask for it a language model words those anew that hold neither names nor costs; words with other numbers are not taken.',
    permission: 'ai.portfolio_insights',
    permissionNote: 'inventory.view; relations.view; costs.view for costs',
    body: InsightsBody,

    answers: {
      200: {
        description: 'Insights',
        schema: PortfolioInsightsSchema,
      },
    },
    handler: async ({ ctx, body, request }) => {
      const { insights } = await readPortfolioInsights(ctx, body);
      return await rewordInsights(services, await settingsOf(services, request), insights);
    },
  });
}
