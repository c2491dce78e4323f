import Type from 'typebox';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { listQuery } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Cost = Nullable(
  Type.Number({
    description:
      'Sum of the cost fields of what is supplied; a card of several suppliers is divided among them. Null without costs.view',
  }),
);
const Confidence = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const AnalysedAt = Nullable(Timestamp);

const category = {
  category: Nullable(Type.String({ examples: ['Data and analytics'] })),
  sub_category: Nullable(Type.String({ examples: ['Databases'] })),
};
const counts = { app_count: Count, itc_count: Count, total_cost: Cost };

export const VendorAnalysisSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    vendor_name: Type.String({ examples: ['Microsoft'] }),
    category: Type.String({ examples: ['Data and analytics', 'Uncategorised'] }),
    sub_category: Type.String({ description: 'Empty where nothing tells' }),
    confidence: Nullable(Confidence('The share of all evidence that speaks for the category')),
    reasoning: Type.String({ description: 'Why, in plain words' }),
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

const VendorType = Type.Union(
  ['vendor', 'partner', 'internal', 'product'].map((type) => Type.Literal(type)),
  { description: 'As the cards say; `product`: what a supplier supplies, its versions together' },
);

export const VendorHierarchySchema = Type.Partial(
  Type.Object({
    id: Uuid,
    canonical_name: Type.String(),
    vendor_type: VendorType,
    parent_id: Nullable(Uuid),
    parent_reason: Nullable(Type.String()),
    group_name: Type.String({
      description: 'Who stands at the top, whether the inventory has a card of it or not',
    }),
    aliases: Type.Array(Type.String(), { description: 'The other names, the surest first' }),
    alias_reasons: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          confidence: Confidence('How sure it is that the name means this supplier'),
          reason: Type.String(),
        },
        closed,
      ),
    ),
    card_ids: Type.Array(Uuid, { description: 'The Provider cards that are this supplier' }),
    ...category,
    ...counts,
    confidence: Confidence('Of the least sure of its names'),
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
    groups: Type.Integer({ minimum: 0, description: 'Suppliers, those that belong together counted once' }),
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

const sorts = ['app_count', 'itc_count', 'critical_app_count', 'total_cost (with costs.view)', 'category'];

export const VendorsQuery = listQuery(['vendor_name', ...sorts], 'vendor_name', {
  category: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Only this category' })),
});

export const VendorHierarchyQuery = listQuery(['canonical_name', ...sorts], 'canonical_name', {
  vendor_type: Type.Optional(VendorType),
  parent_id: Type.Optional(
    Type.String({ ...Uuid, description: 'Only what belongs to this supplier, and its products' }),
  ),
});
