import Type from 'typebox';
import { Cost } from '../../domain/analysis/suppliers/concentration.rules.ts';
import { Supplier, SupplierName } from '../../domain/analysis/suppliers/suppliers.model.ts';
import { itemComponent, Nullable, object, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Count = Type.Integer({ minimum: 0 });
const AnalysedAt = Nullable(Timestamp);

const counts = { app_count: Count, itc_count: Count, total_cost: Cost };

export const VendorAnalysisSchema = itemComponent('VendorAnalysis', {
  id: Uuid,
  vendor_name: Type.String({ examples: ['Microsoft'] }),
  category: Type.String({ examples: ['Data and analytics', 'Uncategorised'] }),
  sub_category: Type.String({ description: 'Empty if unknown' }),
  confidence: Supplier.columns.category_confidence,
  reasoning: Type.String({ description: 'The reasons, as sentences' }),
  ...counts,
  critical_app_count: Type.Integer({
    minimum: 0,
    description: 'Applications that are mission-critical or business-critical',
  }),
  sole_critical_app_count: Type.Integer({
    minimum: 0,
    description: 'Those without another supplier',
  }),
  app_list: Type.Array(Type.String(), { maxItems: 50, description: 'Names of applications, the first 50' }),
  analysed_at: AnalysedAt,
});

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
export const VendorHierarchySchema = itemComponent('VendorHierarchy', {
  id,
  canonical_name,
  vendor_type,
  parent_id,
  parent_reason,
  group_name,
  aliases: Type.Array(Type.String(), { description: 'The other names, the highest confidence first' }),
  alias_reasons: Type.Array(
    object({
      name: Type.String(),
      confidence: SupplierName.columns.confidence,
      reason: Type.String(),
    }),
  ),
  card_ids: Type.Array(Uuid, { description: 'The Provider cards that are this supplier' }),
  category,
  sub_category,
  ...counts,
  confidence,
  analysed_at: AnalysedAt,
});
