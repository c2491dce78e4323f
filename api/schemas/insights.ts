import Type from 'typebox';
import { closed, Nullable, OpenObject } from '../../domain/kernel/shapes.ts';
import { insightMembers } from '../../reports/analysis/portfolio-insights/insights.types.ts';

const Grouping = (description: string) =>
  Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100, description })));
const PassedOver = 'Taken and passed over: figures are those of the inventory';

export const InsightsBody = Type.Object(
  {
    total_apps: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: PassedOver })),
    group_by: Grouping(
      'An attribute of applications with few values, `subtype`, `approval_status`, or the type of related cards',
    ),
    color_by: Grouping('The same, of which the spread alone is told'),
    groups: Type.Optional(Type.Array(OpenObject, { maxItems: 1_000, description: PassedOver })),
    attribute_summary: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: PassedOver }),
    ),
    lifecycle_summary: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: PassedOver }),
    ),
    active_filters: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), {
        maxItems: 20,
        description: 'In the filter language; applications that fit all of them are looked at',
        examples: [['subtype = businessApplication']],
      }),
    ),
  },
  closed,
);

const Insight = Type.Object(
  {
    ...insightMembers,
    reworded: Type.Boolean({ description: 'Whether a language model chose the words' }),
  },
  closed,
);

export const PortfolioInsightsSchema = Type.Object(
  {
    insights: Type.Array(Insight, { description: 'The most severe first' }),
    model: Nullable(Type.String({ description: 'The language model that chose words; null: none did' })),
    model_failure: Nullable(
      Type.String({ description: 'Why a model that is set up gave no words', examples: ['timeout'] }),
    ),
  },
  { $id: 'PortfolioInsights', ...closed },
);
