import { aiStatus } from '../../domain/ai/ai.status.ts';
import type { Services } from '../../domain/services.ts';
import { runningModels } from '../../integrations/models/models.running.ts';
import { suggestFields } from '../../integrations/models/suggest.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/ai.ts';
import { settingsOf } from '../settings/settings.routes.ts';
import type { App } from '../types.ts';

const tag = 'AI';

/** What models are asked for while somebody waits. */
export function registerAiRoutes(app: App, services: Services): void {
  app.addSchema(schemas.AiStatusSchema);
  app.addSchema(schemas.SuggestionsSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/ai/status',
    id: 'readAiStatus',
    tag,
    summary: 'Read whether a language model can be asked',
    permission: ['ai.suggest', 'ai.portfolio_insights'],
    answers: { 200: { description: 'The status', schema: schemas.AiStatusSchema } },
    handler: async ({ request }) => {
      const settings = await settingsOf(services, request);
      const running_models = await runningModels(services.outbound, settings.values.ai);
      return { ...aiStatus(settings), running_models };
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/ai/suggest',
    id: 'suggestFields',
    tag,
    summary: 'Have a language model suggest a description and attributes',
    description:
      'Nothing is written. The provider is sent name, subtype and context as given, the fields of the type, and what the settings let out of up to five similar cards that the caller sees. Values that do not fit their fields are left out; amounts, dates and addresses are never suggested.',
    permission: 'ai.suggest',
    body: schemas.suggestBody,
    bodyExample: { type_key: 'Application', name: 'Payroll', context: 'Run by a provider, for Germany' },
    answers: {
      200: {
        description: 'Suggestions',
        schema: schemas.SuggestionsSchema,
        example: schemas.suggestionsExample,
      },
    },
    errors: ['ai_budget_spent', 'ai_not_configured', 'upstream_failed'],
    handler: async ({ ctx, body, request }) =>
      suggestFields(ctx, services, await settingsOf(services, request), body),
  });
}
