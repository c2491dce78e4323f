import Type from 'typebox';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

const Count = Type.Integer({ minimum: 0 });

export const AnalysisStatusOut = Type.Object(
  {
    ai_configured: Type.Boolean({ description: 'Whether a provider of language models is set up' }),
    ready: Type.Boolean({ description: 'Whether analyses can be run: they need no language model' }),
    enabled: Type.Boolean({ description: 'Whether the module is switched on' }),
  },
  { $id: 'AnalysisStatus', ...closed },
);

export const AnalysisOverviewOut = Type.Object(
  {
    total_cards: Count,
    cards_by_type: Type.Record(Type.String(), Count),
    quality_avg: Type.Number(),
    quality_bronze: Type.Integer({ minimum: 0, description: 'Cards whose data quality is under 50' }),
    quality_silver: Type.Integer({ minimum: 0, description: 'From 50 up to 80' }),
    quality_gold: Type.Integer({ minimum: 0, description: 'From 80' }),
    total_cost: Nullable(Type.Number({ description: 'In a year; null without `costs.view`' })),
    vendor_count: Count,
    duplicate_clusters: Type.Integer({
      minimum: 0,
      description: 'That nobody has confirmed or dismissed',
    }),
    modernization_count: Count,
    top_issues: Type.Array(
      Type.Object(
        { id: Uuid, name: Type.String(), type: Type.String(), data_quality: Type.Number() },
        closed,
      ),
      { description: 'The cards with the least data quality' },
    ),
  },
  { $id: 'AnalysisOverview', ...closed },
);
