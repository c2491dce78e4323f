import Type from 'typebox';
import { StartedRunSchema, startedRunQuery } from '../../../domain/analysis/runs/runs.ts';
import { Cost, VendorConcentrationSchema } from '../../../domain/analysis/suppliers/concentration.rules.ts';
import { readConcentration } from '../../../domain/analysis/suppliers/concentration.ts';
import {
  startVendorHierarchy,
  startVendors,
  vendorHierarchyList,
  vendorList,
} from '../../../domain/analysis/suppliers/suppliers.list.ts';
import { Supplier, SupplierName } from '../../../domain/analysis/suppliers/suppliers.model.ts';
import { Count, itemComponent, Nullable, object, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const AnalysedAt = Nullable(Timestamp);

const counts = { app_count: Count, itc_count: Count, total_cost: Cost };

const VendorAnalysisSchema = itemComponent('VendorAnalysis', {
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
const VendorHierarchySchema = itemComponent('VendorHierarchy', {
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

const tag = 'AI analysis';
const root = '/api/v1/ai-analysis/vendors';
const started = { description: 'The run has been started', schema: StartedRunSchema };
const permissionNote = 'inventory.view; relations.view; costs.view for costs';

/** Suppliers, their categories, products and owners, and the concentration on few suppliers. */
export function registerVendorRoutes(app: App): void {
  const own = routesOf(app, { permission: 'ai_analysis.view', module: 'ai_analysis', tag });

  own.post('analyseVendors', '/api/v1/ai-analysis/vendors/analyse', {
    summary: 'Identify suppliers and what each supplies, as a job',
    description:
      'Matches the names of Provider cards and the supplier attributes of applications and IT components; categories come from a lexicon. No model is needed. 409 while a run of this kind is in progress.',
    permission: 'ai_analysis.manage',
    errors: ['wrong_state'],
    query: startedRunQuery,
    responses: { 202: started },
    handler: async ({ ctx, query, reply }) => sendStarted(reply, await startVendors(ctx, query.dry_run)),
  });

  own.post('resolveVendors', '/api/v1/ai-analysis/vendors/resolve', {
    summary: 'Identify the owners and products of suppliers, as a job',
    description: 'No model is needed. 409 while a run of this kind is in progress.',
    permission: 'ai_analysis.manage',
    errors: ['wrong_state'],
    query: startedRunQuery,
    responses: { 202: started },
    handler: async ({ ctx, query, reply }) =>
      sendStarted(reply, await startVendorHierarchy(ctx, query.dry_run)),
  });

  own.list('listVendors', root, vendorList, {
    summary: 'List the suppliers with what each supplies',
    description: 'Results of the last run with current counts and costs. `search` searches the names.',
    permissionNote,
    responses: page('Suppliers', VendorAnalysisSchema),
  });

  own.list('listVendorHierarchy', '/api/v1/ai-analysis/vendors/hierarchy', vendorHierarchyList, {
    summary: 'List the suppliers and their products, with names and owners',
    description:
      'Results of the last run with current counts and costs. `search` searches all names of a supplier.',
    permissionNote,
    responses: page('Suppliers and products', VendorHierarchySchema),
  });

  own.get('readVendorConcentration', '/api/v1/ai-analysis/vendors/concentration', {
    summary: 'Read the concentration on few suppliers',
    description:
      'Shares of spend and of business-critical applications, and the Herfindahl-Hirschman index, in total and by category. Suppliers of one group count as one.',
    permissionNote,
    responses: ok('Figures', VendorConcentrationSchema),
    handler: ({ ctx }) => readConcentration(ctx),
  });
}
