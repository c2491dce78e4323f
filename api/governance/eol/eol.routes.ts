import Type from 'typebox';
import { loadFacts, startRefresh } from '../../../domain/governance/eol/eol.facts.ts';
import {
  cycleSorts,
  findProducts,
  listCycles,
  productList,
} from '../../../domain/governance/eol/eol.lists.ts';
import {
  MassLinkBody,
  MassLinkResultSchema,
  massLink,
  massSearch,
} from '../../../domain/governance/eol/eol.mass.ts';
import { EolCycle, EolProduct } from '../../../domain/governance/eol/eol.model.ts';
import {
  Count,
  component,
  DateOnly,
  Flag,
  itemComponent,
  Nullable,
  NullableText,
  OpenObject,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const {
  name: Product,
  label: Label,
  category,
  aliases,
  link: Link,
  source,
  checked_at,
  changed_at,
} = EolProduct.columns;
const Cycle = EolCycle.columns.cycle;

const EolProductSchema = itemComponent('EolProduct', {
  name: Product,
  label: Label,
  category,
  aliases,
  link: Link,
  cycles: Type.Integer({ minimum: 0, description: 'The number of known release cycles' }),
  source,
  checked_at,
  changed_at,
});

const Score = Type.Number({ minimum: 0, maximum: 1, description: '1 for an exact match' });

const EolProductMatchSchema = itemComponent('EolProductMatch', {
  name: Product,
  label: Label,
  score: Score,
});

/** A date if it is known, otherwise a boolean; null if the product has no such phase. */
const dateOrFlag = (description: string) =>
  Type.Union([DateOnly, Type.Boolean(), Type.Null()], { description });

const EolCycleSchema = itemComponent('EolCycle', {
  cycle: Cycle,
  releaseDate: Nullable(DateOnly),
  eol: dateOrFlag('First day without support, or whether support has ended'),
  latest: NullableText('The newest version'),
  latestReleaseDate: Nullable(DateOnly),
  lts: dateOrFlag('Start of long-term support, or whether there is any'),
  support: dateOrFlag('End of active support, or whether it continues'),
  discontinued: dateOrFlag('When it was discontinued, or whether it was'),
  codename: Nullable(Type.String()),
  link: Link,
});

const card = { card_id: Uuid, card_name: Type.String(), card_type: Type.String() };

const MassEolCandidateSchema = component('MassEolCandidate', {
  ...card,
  eol_product: Product,
  eol_cycle: NullableText('The cycle by name, alias or version'),
  score: Score,
});

const MassEolResultSchema = itemComponent('MassEolResult', {
  ...card,
  current_eol_product: Nullable(Product),
  current_eol_cycle: Nullable(Cycle),
  candidates: Type.Array(MassEolCandidateSchema, { description: 'At most 5, best match first' }),
});

const EolProductParams = object({
  product: Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-z0-9][a-z0-9._+-]*$' }),
});

const { search: _, ...matchQuery } = listQuery(['score', 'name'], 'score', {}).properties;
const EolMatchQuery = object({
  search: Type.String({
    minLength: 2,
    maxLength: 200,
    description: 'A name; it can be misspelt or contain a version',
  }),
  ...matchQuery,
});

const MassSearchQuery = listQuery(['name', 'created_at'], 'name', {
  type_key: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The type of the cards: `Application` or `ITComponent`',
    examples: ['ITComponent'],
  }),
  unlinked_only: Flag('Only cards that are linked to no product'),
});

const MAX_PRODUCTS = 5_000;

/** The response of the public API's `/products/full`. */
const FactsBody = object({
  schema_version: Type.Optional(Type.String({ maxLength: 50 })),
  generated_at: Type.Optional(Type.String({ maxLength: 50 })),
  total: Type.Optional(Type.Integer()),
  result: Type.Array(OpenObject, {
    minItems: 1,
    maxItems: MAX_PRODUCTS,
    description: 'Products with their `releases`; unknown members are ignored',
  }),
});

const LoadedFactsSchema = component('LoadedEolFacts', {
  products: Count,
  cycles: Count,
  changed: Type.Integer({ minimum: 0, description: 'Products whose facts differ from what was known' }),
});

const MIB = 1024 * 1024;

/** End-of-life facts of products, and the cards that are linked to products. */
export function registerEolRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'End of life', permission: 'eol.view' });

  routes.list('listEolProducts', '/api/v1/eol/products', productList, {
    summary: 'List the products whose end of life is known',
    description: '`search` searches name, label, category and aliases.',
    responses: page('Products', EolProductSchema),
  });

  routes.get('findEolProducts', '/api/v1/eol/products/fuzzy', {
    summary: 'Find products by a similar name',
    query: EolMatchQuery,
    responses: page('Products, best match first', EolProductMatchSchema),
    handler: ({ ctx, query }) => findProducts(ctx, query),
  });

  routes.get('listEolCycles', '/api/v1/eol/products/:product', {
    summary: 'List the release cycles of a product',
    description: 'The product can be given by one of its aliases. `search` searches cycle and codename.',
    params: EolProductParams,
    query: listQuery(cycleSorts, 'releaseDate', {}),
    responses: page('Cycles, the newest first', EolCycleSchema),
    handler: ({ ctx, params, query }) => listCycles(ctx, params.product, query),
  });

  registerEolCardRoutes(app);
}

/** Links of cards to products, and the import of product data. */
function registerEolCardRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'End of life', permission: 'eol.manage' });

  routes.post('massSearchEol', '/api/v1/eol/mass-search', {
    summary: 'Propose products for the cards of a type',
    description:
      'Pages through the active cards. Names, aliases and, by the related providers, vendors are compared with the products; the cycle is proposed if a name or the attribute `version` contains one.',
    permissionNote: 'inventory.view for all cards; otherwise only cards that a stakeholder role shows',
    query: MassSearchQuery,
    responses: page('Cards with their candidates', MassEolResultSchema),
    handler: ({ ctx, query }) => massSearch(ctx, query),
  });

  routes.post('massLinkEol', '/api/v1/eol/mass-link', {
    summary: 'Link cards to release cycles of products',
    description:
      'Sets the attributes `eol_product` and `eol_cycle` by the rules of a change of cards, with history and events. Refused rows are reported and do not affect others. A PATCH of the card with null for both removes a link.',
    permissionNote: 'inventory.edit or card.edit on each card',
    query: object({
      dry_run: Flag('Return the same response without writing'),
    }),
    body: MassLinkBody,
    bodyLimit: 4 * MIB,
    responses: ok('The result, with errors by row', MassLinkResultSchema),
    handler: ({ ctx, body, query }) => massLink(ctx, body, query.dry_run),
  });

  routes.post('refreshEolFacts', '/api/v1/eol/refresh', {
    summary: 'Refresh the product data from its source, as a job',
    description:
      'The same as the nightly schedule `eol_refresh`. Only changed products are read; products that cannot be read retain their data and are listed in the job’s `result`. Refused while such a job is queued or running.',
    errors: ['wrong_state'],
    responses: started,
    handler: ({ ctx }) => startRefresh(ctx),
  });

  routes.post('loadEolFacts', '/api/v1/eol/facts', {
    summary: 'Load product data from a document',
    description:
      'For workspaces without internet access: the response of `/products/full` of the public API, downloaded elsewhere. Products in it replace the stored data; other products do not change. If one product is invalid, nothing is loaded.',
    permission: 'admin.settings',
    body: FactsBody,
    bodyLimit: 32 * MIB,
    responses: ok('What was loaded', LoadedFactsSchema),
    handler: ({ ctx, body }) => loadFacts(ctx, body.result),
  });
}
