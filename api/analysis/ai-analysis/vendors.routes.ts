import { VendorConcentrationSchema } from '../../../domain/analysis/suppliers/concentration.rules.ts';
import { readConcentration } from '../../../domain/analysis/suppliers/concentration.ts';
import {
  hierarchyFilters,
  hierarchySorts,
  listVendorHierarchy,
  listVendors,
  vendorFilters,
  vendorSorts,
} from '../../../domain/analysis/suppliers/suppliers.list.ts';
import { startVendorHierarchy, startVendors } from '../../../domain/analysis/suppliers/suppliers.start.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { StartedRunSchema } from '../../schemas/analysis.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/vendors.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const tag = 'AI analysis';
const root = '/api/v1/ai-analysis/vendors';
const started = { description: 'The run has been started', schema: StartedRunSchema };
const permissionNote = 'inventory.view; relations.view; costs.view for costs';

/** Suppliers, their categories, products and owners, and the concentration on few suppliers. */
export function registerVendorRoutes(app: App): void {
  const own = routesOf(app, { permission: 'ai_analysis.view', module: 'ai_analysis', tag });

  own.post('/api/v1/ai-analysis/vendors/analyse', {
    id: 'analyseVendors',
    summary: 'Identify suppliers and what each supplies, as a job',
    description:
      'Matches the names of Provider cards and the supplier attributes of applications and IT components; categories come from a lexicon. No model is needed. 409 while a run of this kind is in progress.',
    permission: 'ai_analysis.manage',
    errors: ['wrong_state'],
    answers: { 202: started },
    handler: async ({ ctx, reply }) => sendStarted(reply, await startVendors(ctx)),
  });

  own.post('/api/v1/ai-analysis/vendors/resolve', {
    id: 'resolveVendors',
    summary: 'Identify the owners and products of suppliers, as a job',
    description: 'No model is needed. 409 while a run of this kind is in progress.',
    permission: 'ai_analysis.manage',
    errors: ['wrong_state'],
    answers: { 202: started },
    handler: async ({ ctx, reply }) => sendStarted(reply, await startVendorHierarchy(ctx)),
  });

  own.get(root, {
    id: 'listVendors',
    summary: 'List the suppliers with what each supplies',
    description: 'Results of the last run with current counts and costs. `search` searches the names.',
    permissionNote,
    query: listQuery(vendorSorts, 'vendor_name', vendorFilters),
    answers: page('Suppliers', schemas.VendorAnalysisSchema),
    handler: ({ ctx, query }) => listVendors(ctx, query),
  });

  own.get('/api/v1/ai-analysis/vendors/hierarchy', {
    id: 'listVendorHierarchy',
    summary: 'List the suppliers and their products, with names and owners',
    description:
      'Results of the last run with current counts and costs. `search` searches all names of a supplier.',
    permissionNote,
    query: listQuery(hierarchySorts, 'canonical_name', hierarchyFilters),
    answers: page('Suppliers and products', schemas.VendorHierarchySchema),
    handler: ({ ctx, query }) => listVendorHierarchy(ctx, query),
  });

  own.get('/api/v1/ai-analysis/vendors/concentration', {
    id: 'readVendorConcentration',
    summary: 'Read the concentration on few suppliers',
    description:
      'Shares of spend and of business-critical applications, and the Herfindahl-Hirschman index, in total and by category. Suppliers of one group count as one.',
    permissionNote,
    answers: ok('Figures', VendorConcentrationSchema),
    handler: ({ ctx }) => readConcentration(ctx),
  });
}
