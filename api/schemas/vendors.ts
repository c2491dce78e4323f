import Type from 'typebox';
import { Supplier, SupplierName } from '../../domain/analysis/suppliers/suppliers.model.ts';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Count = Type.Integer({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Cost = Nullable(
  Type.Number({
    description:
      'The sum of the cost fields of supplied cards; the costs of a card with several suppliers are divided among them. Null without costs.view',
  }),
);
const AnalysedAt = Nullable(Timestamp);

const counts = { app_count: Count, itc_count: Count, total_cost: Cost };

export const VendorAnalysisSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    vendor_name: Type.String({ examples: ['Microsoft'] }),
    category: Type.String({ examples: ['Data and analytics', 'Uncategorised'] }),
    sub_category: Type.String({ description: 'Empty where nothing supports one' }),
    confidence: Supplier.columns.category_confidence,
    reasoning: Type.String({ description: 'The reasons, as sentences' }),
    ...counts,
    critical_app_count: Type.Integer({
      minimum: 0,
      description: 'Applications that are mission-critical or business-critical',
    }),
    sole_critical_app_count: Type.Integer({
      minimum: 0,
      description: 'Those of them without another supplier',
    }),
    app_list: Type.Array(Type.String(), { maxItems: 50, description: 'Names of applications, the first 50' }),
    analysed_at: AnalysedAt,
  }),
  { $id: 'VendorAnalysis', ...closed },
);

const {
  id,
  canonical_name,
  vendor_type,
  parent_id,
  parent_reason,
  group_name,
  category,
  sub_category,
  confidence,
} = Supplier.columns;
export const VendorHierarchySchema = Type.Partial(
  Type.Object({
    id,
    canonical_name,
    vendor_type,
    parent_id,
    parent_reason,
    group_name,
    aliases: Type.Array(Type.String(), { description: 'The other names, the highest confidence first' }),
    alias_reasons: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          confidence: SupplierName.columns.confidence,
          reason: Type.String(),
        },
        closed,
      ),
    ),
    card_ids: Type.Array(Uuid, { description: 'The Provider cards that are this supplier' }),
    category,
    sub_category,
    ...counts,
    confidence,
    analysed_at: AnalysedAt,
  }),
  { $id: 'VendorHierarchy', ...closed },
);

const Risk = Type.Union(['low', 'moderate', 'high'].map((risk) => Type.Literal(risk)));
const Hhi = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'Index of Herfindahl and Hirschman: the sum of squared shares in percent',
});

export const VendorConcentrationSchema = Type.Object(
  {
    groups: Type.Integer({ minimum: 0, description: 'Groups of suppliers' }),
    total_cost: Cost,
    hhi_spend: Nullable(Hhi),
    hhi_applications: Hhi,
    concentration: Risk,
    spend_share_top: Nullable(
      Type.Object(
        { top_1: Share, top_3: Share, top_5: Share },
        { description: 'Shares of the largest group, the three and the five largest', ...closed },
      ),
    ),
    critical_app_count: Type.Integer({ minimum: 0, description: 'Critical applications with a supplier' }),
    by_category: Type.Array(
      Type.Object(
        {
          category: Type.String(),
          groups: Count,
          hhi_applications: Hhi,
          hhi_spend: Nullable(Hhi),
          concentration: Risk,
        },
        closed,
      ),
    ),
    top: Type.Array(
      Type.Object(
        {
          group_name: Type.String(),
          app_count: Count,
          itc_count: Count,
          critical_app_count: Count,
          sole_critical_app_count: Count,
          sole_critical_share: Share,
          total_cost: Cost,
          spend_share: Nullable(Share),
          risk: Risk,
          reasons: Type.Array(Type.String()),
        },
        closed,
      ),
      { maxItems: 10, description: 'The groups with the highest costs, or the most critical applications' },
    ),
  },
  { $id: 'VendorConcentration', ...closed },
);
