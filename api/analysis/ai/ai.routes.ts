import { aiStatus } from '../../../domain/analysis/ai/ai.provider.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { runningModels } from '../../../integrations/models/models.running.ts';
import { SuggestionsSchema, suggestBody, suggestFields } from '../../../integrations/models/suggest.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/ai.ts';
import { QuestionBody } from '../../schemas/ai.ts';
import type { App } from '../../types.ts';
import { answerQuestion } from './question.answer.ts';

/** What models are asked for while somebody waits. */
export function registerAiRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.get('/api/v1/ai/status', {
    id: 'readAiStatus',
    summary: 'Read whether a language model can be asked',
    permission: ['ai.suggest', 'ai.portfolio_insights'],
    answers: { 200: { description: 'The status', schema: schemas.AiStatusSchema } },
    handler: async ({ request }) => {
      const settings = await settingsOf(services, request);
      const running_models = await runningModels(services.outbound, settings.values.ai);
      return { ...aiStatus(settings), running_models };
    },
  });

  routes.post('/api/v1/ai/suggest', {
    id: 'suggestFields',
    summary: 'Have a language model suggest a description and attributes',
    description:
      'Nothing is written. The provider is sent name, subtype and context as given, the fields of the type, and what the settings let out of up to five similar cards that the caller sees. Values that do not fit their fields are left out; amounts, dates and addresses are never suggested.',
    permission: 'ai.suggest',
    body: suggestBody,

    answers: {
      200: {
        description: 'Suggestions',
        schema: SuggestionsSchema,
      },
    },
    errors: ['ai_budget_spent', 'ai_not_configured', 'upstream_failed'],
    handler: async ({ ctx, body, request }) =>
      suggestFields(ctx, services, await settingsOf(services, request), body),
  });

  routes.post('/api/v1/ai/question', {
    id: 'askQuestion',
    summary: 'Ask a question about the inventory in words',
    description:
      'The question becomes a body of POST /reports/query, which is shown, and run with the rights of the caller. Rules read what the metamodel and the tags name, and the words of counting, grouping, amounts and dates; they never guess. What they do not understand a language model reads, where one is set up: it is told the question and the names of metamodel and tags, and no card.',
    permission: 'reports.ea_dashboard',
    permissionNote:
      'costs.view when costs are asked about; relations.view when relations are; stakeholders.view when stakeholders are',
    body: QuestionBody,

    errors: [
      'ai_budget_spent',
      'ai_not_configured',
      'as_of_expired',
      'query_too_heavy',
      'question_not_understood',
      'upstream_failed',
    ],
    answers: {
      200: {
        description: 'The query, and its answer',
        schema: schemas.QuestionAnswerSchema,
      },
    },
    handler: async ({ ctx, body, request }) =>
      await answerQuestion(ctx, services, await settingsOf(services, request), body),
  });
}
