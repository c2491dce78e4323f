import Type from 'typebox';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

export const AiStatusSchema = Type.Object(
  {
    enabled: Type.Boolean(),
    configured: Type.Boolean({ description: 'Whether a model can be asked as soon as it is enabled' }),
    provider_type: Type.String(),
    enabled_types: Type.Array(Type.String()),
    running_models: Type.Array(Type.String(), { description: 'The models that Ollama has loaded' }),
    model: Nullable(Type.String()),
    portfolio_insights_enabled: Type.Boolean(),
  },
  { $id: 'AiStatus', ...closed },
);

export const suggestionsExample = {
  suggestions: {
    description: { value: 'Keeps contracts and runs the payroll.', confidence: 0.7, source: null },
    'attributes.hostingType': { value: 'cloudSaaS', confidence: 0.9, source: 'Payroll Germany' },
  },
  sources: [{ url: '/api/v1/cards/0f8fad5b-d9cb-469f-a165-70867728950e', title: 'Payroll Germany' }],
  model: 'small',
  search_provider: null,
};

export const AiPreviewSchema = Type.Object(
  {
    provider_type: Type.String(),
    address: Type.String({ description: 'Where it would be sent' }),
    card: Type.Object(
      { id: Uuid, type: Type.String() },
      { additionalProperties: true, description: 'The card as the provider is told of it' },
    ),
    withheld: Type.Array(Type.String(), { description: 'Filled fields that stay in the house' }),
  },
  { $id: 'AiPreview', ...closed },
);

export const previewExample = {
  provider_type: 'anthropic',
  address: 'https://api.anthropic.com/v1',
  card: {
    id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    type: 'Application',
    name: 'Payroll Germany',
    attributes: { hostingType: 'cloudSaaS' },
  },
  withheld: ['description', 'attributes.costTotalAnnual'],
};

export const AiUsageSchema = Type.Object(
  {
    id: Uuid,
    day: DateOnly,
    run_id: Nullable(Uuid),
    purpose: Type.String(),
    provider_type: Type.String(),
    model: Type.String(),
    calls: Type.Integer({ description: 'Requests sent, repeated ones too' }),
    tokens_in: Type.Integer(),
    tokens_out: Type.Integer(),
    tokens_reserved: Type.Integer({
      description:
        'Set aside for requests under way, and for those whose end nobody learnt; they count as spent',
    }),
  },
  { $id: 'AiUsage', ...closed },
);
