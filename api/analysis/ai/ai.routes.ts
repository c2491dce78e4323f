import Type from 'typebox';
import { aiStatus } from '../../../domain/analysis/ai/ai.provider.ts';
import { pictureLanguages } from '../../../domain/inventory/reports/report.options.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  Clearable,
  component,
  Nullable,
  NullableText,
  OpenObject,
  object,
} from '../../../domain/kernel/shapes.ts';
import { rewordInsights } from '../../../integrations/analysis/models/insights.ts';
import { runningModels } from '../../../integrations/analysis/models/models.open.ts';
import {
  SuggestionsSchema,
  suggestBody,
  suggestFields,
} from '../../../integrations/analysis/models/suggest.ts';
import { insightMembers } from '../../../reports/analysis/portfolio-insights/insights.words.ts';
import { readPortfolioInsights } from '../../../reports/analysis/portfolio-insights/portfolio-insights.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { QueryResultSchema, ReportQueryBody } from '../../inventory/reports/query.schemas.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { answerQuestion } from './question.answer.ts';

const AiStatusSchema = component('AiStatus', {
  enabled: Type.Boolean(),
  configured: Type.Boolean({ description: 'Whether a model is configured' }),
  provider_type: Type.String(),
  enabled_types: Type.Array(Type.String()),
  running_models: Type.Array(Type.String(), { description: 'The models that Ollama has loaded' }),
  model: Nullable(Type.String()),
  portfolio_insights_enabled: Type.Boolean(),
});

const QuestionBody = object({
  question: Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '\\S',
    description: 'In English or German',
  }),
  run: Type.Boolean({ default: true, description: 'If false, the query is only returned' }),
  use_model: Type.Boolean({
    default: true,
    description:
      'Whether a language model, if configured, can be used for questions that the rules do not understand',
  }),
});

const QuestionAnswerSchema = component('QuestionAnswer', {
  query: object(ReportQueryBody.properties, {
    description: 'The query: a body of POST /reports/query',
  }),
  translated_by: Choice(['rules', 'model']),
  reading: Type.Array(Type.String(), {
    description: 'The interpretation of each part of the question, in the language of `Accept-Language`',
  }),
  limit: Nullable(Type.Integer({ description: 'The number of groups that are asked for; null: all' })),
  model: Nullable(
    object(
      { provider: Type.String(), model: Type.String(), prompt: Type.String() },
      { description: 'The language model that interpreted it; null: the rules did' },
    ),
  ),
  answer: Nullable(QueryResultSchema),
});

const Grouping = (description: string) =>
  Clearable(Type.String({ minLength: 1, maxLength: 100, description }));
const PassedOver = 'Accepted and ignored: figures are computed from the inventory';

const InsightsBody = object({
  total_apps: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: PassedOver })),
  group_by: Grouping(
    'An attribute of applications with few values, `subtype`, `approval_status`, or the type of related cards',
  ),
  color_by: Grouping('The same; only the distribution of its values is reported'),
  groups: Type.Optional(Type.Array(OpenObject, { maxItems: 1_000, description: PassedOver })),
  attribute_summary: Type.Optional(Type.Object({}, { additionalProperties: true, description: PassedOver })),
  lifecycle_summary: Type.Optional(Type.Object({}, { additionalProperties: true, description: PassedOver })),
  active_filters: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), {
      maxItems: 20,
      description: 'In the filter language; only applications that match all of them are included',
      examples: [['subtype = businessApplication']],
    }),
  ),
});

const Insight = object({
  ...insightMembers,
  reworded: Type.Boolean({ description: 'Whether a language model rephrased it' }),
});

const PortfolioInsightsSchema = component('PortfolioInsights', {
  insights: Type.Array(Insight, { description: 'The most severe first' }),
  model: NullableText('The language model that rephrased texts; null: none'),
  model_failure: Nullable(
    Type.String({ description: 'Why the configured model rephrased nothing', examples: ['timeout'] }),
  ),
});

/** Synchronous requests to language models. */
export function registerAiRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.get('readAiStatus', '/api/v1/ai/status', {
    summary: 'Read whether a language model is available',
    permission: ['ai.suggest', 'ai.portfolio_insights'],
    responses: ok('The status', AiStatusSchema),
    handler: async ({ request }) => {
      const settings = await settingsOf(services, request);
      const running_models = await runningModels(services.outbound, settings.values.ai);
      return { ...aiStatus(settings), running_models };
    },
  });

  routes.post('suggestFields', '/api/v1/ai/suggest', {
    summary: 'Suggest a description and attributes by a language model',
    description:
      'Nothing is written. The provider gets name, subtype and context as sent, the fields of the type, and of up to five similar cards that the caller sees the data that the settings allow to be sent. Values that are invalid for their fields are omitted; amounts, dates and URLs are never suggested.',
    permission: 'ai.suggest',
    body: suggestBody,
    responses: ok('Suggestions', SuggestionsSchema),
    errors: ['ai_budget_spent', 'ai_not_configured', 'upstream_failed'],
    handler: async ({ ctx, body, request }) =>
      suggestFields(ctx, services, await settingsOf(services, request), body),
  });

  routes.post('askQuestion', '/api/v1/ai/question', {
    summary: 'Ask a question about the inventory in natural language',
    description:
      'The question is converted into a body of POST /reports/query, which is returned and run with the rights of the caller. Rules recognise names of the metamodel, of tags and of cards that the caller sees, and words for relations, counting, grouping, amounts and dates; they never guess. Problems contain the words that are not understood in `unknown` and `ambiguous`, and a similar question that is understood in `suggestion`. A question that the rules do not understand is sent to a language model, if one is configured: it gets the question and the names of metamodel and tags, but no cards.',
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
    responses: ok('The query and its result', QuestionAnswerSchema),
    languages: () => new Set(pictureLanguages),
    handler: async ({ ctx, body, request, language }) =>
      await answerQuestion(ctx, services, await settingsOf(services, request), {
        ...body,
        language: pictureLanguages.find((one) => one === language),
      }),
  });
}

/** Insights about the application portfolio. */
export function registerInsightRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'AI' });

  routes.post('readPortfolioInsights', '/api/v1/ai/portfolio-insights', {
    summary: 'Read insights about the application portfolio',
    description:
      'Facts are computed from the applications that the caller sees, and written as sentences; no model is needed. If the settings enable it, a language model rephrases those without names and costs; a text with other numbers is discarded.',
    permission: 'ai.portfolio_insights',
    permissionNote: 'inventory.view; relations.view; costs.view for costs',
    body: InsightsBody,
    responses: ok('Insights', PortfolioInsightsSchema),
    handler: async ({ ctx, body, request }) => {
      const { insights } = await readPortfolioInsights(ctx, body);
      return await rewordInsights(services, await settingsOf(services, request), insights);
    },
  });
}
