import Type from 'typebox';
import { component, DateOnly, Nullable, OpenObject, object, Uuid } from '../../domain/kernel/shapes.ts';
import { insightMembers } from '../../reports/analysis/portfolio-insights/insights.words.ts';
import { QueryAnswerSchema, ReportQueryBody } from './reports.query.ts';

export const AiStatusSchema = component('AiStatus', {
  enabled: Type.Boolean(),
  configured: Type.Boolean({ description: 'Whether a model is configured' }),
  provider_type: Type.String(),
  enabled_types: Type.Array(Type.String()),
  running_models: Type.Array(Type.String(), { description: 'The models that Ollama has loaded' }),
  model: Nullable(Type.String()),
  portfolio_insights_enabled: Type.Boolean(),
});

export const AiPreviewSchema = component('AiPreview', {
  provider_type: Type.String(),
  address: Type.String({ description: 'The URL of the provider' }),
  card: Type.Object(
    { id: Uuid, type: Type.String() },
    { additionalProperties: true, description: 'The card data that would be sent' },
  ),
  withheld: Type.Array(Type.String(), { description: 'Fields with values that would not be sent' }),
});

export const AiUsageSchema = component('AiUsage', {
  id: Uuid,
  day: DateOnly,
  run_id: Nullable(Uuid),
  purpose: Type.String(),
  provider_type: Type.String(),
  model: Type.String(),
  calls: Type.Integer({ description: 'Sent requests, including retries' }),
  tokens_in: Type.Integer(),
  tokens_out: Type.Integer(),
  tokens_reserved: Type.Integer({
    description: 'Reserved for requests in progress or with an unknown outcome; counted as spent',
  }),
});

export const QuestionBody = object({
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

export const QuestionAnswerSchema = component('QuestionAnswer', {
  query: object(ReportQueryBody.properties, {
    description: 'The query: a body of POST /reports/query',
  }),
  read_by: Type.Union([Type.Literal('rules'), Type.Literal('model')]),
  reading: Type.Array(Type.String(), { description: 'The interpretation of each part of the question' }),
  model: Nullable(
    object(
      { provider: Type.String(), model: Type.String(), prompt: Type.String() },
      { description: 'The language model that interpreted it; null: the rules did' },
    ),
  ),
  answer: Nullable(QueryAnswerSchema),
});

const Grouping = (description: string) =>
  Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100, description })));
const PassedOver = 'Accepted and ignored: figures are computed from the inventory';

export const InsightsBody = object({
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

export const PortfolioInsightsSchema = component('PortfolioInsights', {
  insights: Type.Array(Insight, { description: 'The most severe first' }),
  model: Nullable(Type.String({ description: 'The language model that rephrased texts; null: none' })),
  model_failure: Nullable(
    Type.String({ description: 'Why the configured model rephrased nothing', examples: ['timeout'] }),
  ),
});
