import { aiStatus } from '../../../domain/analysis/ai/ai.provider.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { runningModels } from '../../../integrations/models/models.running.ts';
import { SuggestionsSchema, suggestBody, suggestFields } from '../../../integrations/models/suggest.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/ai.ts';
import { QuestionBody } from '../../schemas/ai.ts';
import type { App } from '../../types.ts';
import { answerQuestion } from './question.answer.ts';

/** Synchronous requests to language models. */
export function registerAiRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.get('/api/v1/ai/status', {
    id: 'readAiStatus',
    summary: 'Read whether a language model is available',
    permission: ['ai.suggest', 'ai.portfolio_insights'],
    answers: ok('The status', schemas.AiStatusSchema),
    handler: async ({ request }) => {
      const settings = await settingsOf(services, request);
      const running_models = await runningModels(services.outbound, settings.values.ai);
      return { ...aiStatus(settings), running_models };
    },
  });

  routes.post('/api/v1/ai/suggest', {
    id: 'suggestFields',
    summary: 'Suggest a description and attributes by a language model',
    description:
      'Nothing is written. The provider gets name, subtype and context as sent, the fields of the type, and of up to five similar cards that the caller sees the data that the settings allow to be sent. Values that are invalid for their fields are omitted; amounts, dates and URLs are never suggested.',
    permission: 'ai.suggest',
    body: suggestBody,

    answers: ok('Suggestions', SuggestionsSchema),
    errors: ['ai_budget_spent', 'ai_not_configured', 'upstream_failed'],
    handler: async ({ ctx, body, request }) =>
      suggestFields(ctx, services, await settingsOf(services, request), body),
  });

  routes.post('/api/v1/ai/question', {
    id: 'askQuestion',
    summary: 'Ask a question about the inventory in natural language',
    description:
      'The question is converted into a body of POST /reports/query, which is returned and run with the rights of the caller. Rules recognise names of the metamodel and of tags, and words for counting, grouping, amounts and dates; they never guess. A question that the rules do not understand is sent to a language model, if one is configured: it gets the question and the names of metamodel and tags, but no cards.',
    permission: 'reports.ea_dashboard',
    permissionNote:
      'costs.view if the query reads costs; relations.view if it reads relations; stakeholders.view if it reads stakeholders',
    body: QuestionBody,

    errors: [
      'ai_budget_spent',
      'ai_not_configured',
      'as_of_expired',
      'query_too_heavy',
      'question_not_understood',
      'upstream_failed',
    ],
    answers: ok('The query and its result', schemas.QuestionAnswerSchema),
    handler: async ({ ctx, body, request }) =>
      await answerQuestion(ctx, services, await settingsOf(services, request), body),
  });
}
