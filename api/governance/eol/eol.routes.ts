import Type from 'typebox';
import { loadFacts, startRefresh } from '../../../domain/governance/eol/eol.facts.ts';
import {
  cycleSorts,
  findProducts,
  listCycles,
  listProducts,
  productSorts,
} from '../../../domain/governance/eol/eol.lists.ts';
import { massLink, massSearch } from '../../../domain/governance/eol/eol.mass.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/eol.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';

const MIB = 1024 * 1024;

/** End-of-life facts of products, and the cards that are linked to products. */
export function registerEolRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'End of life' });

  routes.get('/api/v1/eol/products', {
    id: 'listEolProducts',
    summary: 'List the products whose end of life is known',
    description: '`search` searches name, label, category and aliases.',
    permission: 'eol.view',
    query: listQuery(productSorts, 'name', {}),
    answers: page('Products', schemas.EolProductSchema),
    handler: ({ ctx, query }) => listProducts(ctx, query),
  });

  routes.get('/api/v1/eol/products/fuzzy', {
    id: 'findEolProducts',
    summary: 'Find products by a similar name',
    permission: 'eol.view',
    query: schemas.EolMatchQuery,
    answers: page('Products, best match first', schemas.EolProductMatchSchema),
    handler: ({ ctx, query }) => findProducts(ctx, query),
  });

  routes.get('/api/v1/eol/products/:product', {
    id: 'listEolCycles',
    summary: 'List the release cycles of a product',
    description: 'The product can be given by one of its aliases. `search` searches cycle and codename.',
    permission: 'eol.view',
    params: schemas.EolProductParams,
    query: listQuery(cycleSorts, 'releaseDate', {}),
    answers: page('Cycles, the newest first', schemas.EolCycleSchema),
    handler: ({ ctx, params, query }) => listCycles(ctx, params.product, query),
  });

  registerEolCardRoutes(app);
}

/** Links of cards to products, and the import of product data. */
function registerEolCardRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'End of life' });

  routes.post('/api/v1/eol/mass-search', {
    id: 'massSearchEol',
    summary: 'Propose products for the cards of a type',
    description:
      'Pages through the active cards. Names, aliases and, by the related providers, vendors are compared with the products; the cycle is proposed if a name or the attribute `version` contains one.',
    permission: 'eol.manage',
    permissionNote: 'inventory.view for all cards; otherwise only cards that a stakeholder role shows',
    query: schemas.MassSearchQuery,
    answers: page('Cards with their candidates', schemas.MassEolResultSchema),
    handler: ({ ctx, query }) => massSearch(ctx, query),
  });

  routes.post('/api/v1/eol/mass-link', {
    id: 'massLinkEol',
    summary: 'Link cards to release cycles of products',
    description:
      'Sets the attributes `eol_product` and `eol_cycle` by the rules of a change of cards, with history and events. Refused rows are reported and do not affect others. A PATCH of the card with null for both removes a link.',
    permission: 'eol.manage',
    permissionNote: 'inventory.edit or card.edit on each card',
    query: object({
      dry_run: Type.Boolean({ default: false, description: 'Return the same response without writing' }),
    }),
    body: schemas.MassLinkBody,

    bodyLimit: 4 * MIB,
    answers: ok('The result, with errors by row', schemas.MassLinkAnswerSchema),
    handler: ({ ctx, body, query }) => massLink(ctx, body, query.dry_run),
  });

  routes.post('/api/v1/eol/refresh', {
    id: 'refreshEolFacts',
    summary: 'Refresh the product data from its source, as a job',
    description:
      'The same as the nightly schedule `eol_refresh`. Only changed products are read; products that cannot be read retain their data and are listed in the job’s `result`. Refused while such a job is queued or running.',
    permission: 'eol.manage',
    errors: ['wrong_state'],
    answers: { 202: { description: 'The job has been started', schema: StartedJobSchema } },
    handler: ({ ctx }) => startRefresh(ctx),
  });

  routes.post('/api/v1/eol/facts', {
    id: 'loadEolFacts',
    summary: 'Load product data from a document',
    description:
      'For workspaces without internet access: the response of `/products/full` of the public API, downloaded elsewhere. Products in it replace the stored data; other products do not change. If one product is invalid, nothing is loaded.',
    permission: 'admin.settings',
    body: schemas.FactsBody,

    bodyLimit: 32 * MIB,
    answers: ok('What was loaded', schemas.LoadedFactsSchema),
    handler: ({ ctx, body }) => loadFacts(ctx, body.result),
  });
}
