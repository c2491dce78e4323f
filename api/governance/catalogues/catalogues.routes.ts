import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import {
  catalogueLanguages,
  createEntry,
  deleteEntry,
  listEntries,
  patchEntry,
} from '../../../domain/governance/catalogues/catalogue.commands.ts';
import {
  type Catalogue,
  principles,
  regulations,
  resourceTypes,
} from '../../../domain/governance/catalogues/catalogues.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { ListParams } from '../../../domain/kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../../domain/kernel/metamodel/languages.ts';
import { negotiateLanguage } from '../../language.ts';
import { created, ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/catalogues.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

/** What differs between the catalogues' operations. */
interface CatalogueApi {
  catalogue: Catalogue;
  /** The last path segment. */
  path: string;
  /** The name in operation ids, singular and plural. */
  name: string;
  names: string;
  /** The path parameter of an entry's id. */
  parameter: string;
  singular: string;
  plural: string;
  schema: TSchema;
  filters: Record<string, TSchema>;
  bodies: { create: TSchema; patch: TSchema };
  createExample: object;
  patchExample: object;
}

const enabledOnly = Type.Boolean({ default: false, description: 'Without disabled ones' });

const catalogues: CatalogueApi[] = [
  {
    catalogue: principles,
    path: 'principles',
    name: 'Principle',
    names: 'Principles',
    parameter: 'principle_id',
    singular: 'an architecture principle',
    plural: 'architecture principles',
    schema: schemas.PrincipleSchema,
    filters: {},
    bodies: schemas.principleBodies,
    createExample: { title: 'Buy before build', rationale: 'Commodities are cheaper bought.' },
    patchExample: { is_active: false },
  },
  {
    catalogue: regulations,
    path: 'compliance-regulations',
    name: 'ComplianceRegulation',
    names: 'ComplianceRegulations',
    parameter: 'regulation_id',
    singular: 'a regulation',
    plural: 'regulations of compliance scans',
    schema: schemas.RegulationSchema,
    filters: { enabled_only: enabledOnly },
    bodies: schemas.regulationBodies,
    createExample: { key: 'pci_dss', label: 'PCI DSS 4.0', sort_order: 70 },
    patchExample: { is_enabled: false },
  },
  {
    catalogue: resourceTypes,
    path: 'resource-types',
    name: 'ResourceType',
    names: 'ResourceTypes',
    parameter: 'resource_type_id',
    singular: 'a link type or file category',
    plural: 'link types and file categories',
    schema: schemas.ResourceTypeSchema,
    filters: { enabled_only: enabledOnly, kind: Type.Optional(schemas.KindFilter) },
    bodies: schemas.resourceTypeBodies,
    createExample: { kind: 'link_type', key: 'runbook', label: 'Runbook', icon: 'menu_book' },
    patchExample: { label: 'Run book' },
  },
];

/** Principles, regulations, link types and file categories. */
export function registerCatalogueRoutes(app: App): void {
  for (const api of catalogues) registerCatalogue(app, api);
}

function registerCatalogue(app: App, api: CatalogueApi): void {
  const { catalogue, parameter } = api;
  const routes = routesOf(app, { tag: 'Metamodel' });
  const url = `/api/v1/metamodel/${api.path}`;
  const one = `${url}/:${parameter}`;
  const item = api.schema;
  const administering = { permission: 'admin.metamodel' } as const;
  const localised = catalogue.translated ? { headers: ['Accept-Language'] as ['Accept-Language'] } : {};
  const languageHeaders = catalogue.translated ? (['Content-Language', 'Vary'] as const) : [];
  const languageOf = async (ctx: Ctx, request: FastifyRequest, reply: FastifyReply) =>
    catalogue.translated
      ? negotiateLanguage(request, reply, await catalogueLanguages(ctx.db, catalogue))
      : 'en';

  routes.get(url, {
    id: `list${api.names}`,
    summary: `List ${api.plural}`,
    permission: 'login',
    ...localised,
    query: listQuery(catalogue.list(DEFAULT_LANGUAGE).sorts, 'sort_order', api.filters),
    answers: ok('In order', listAnswer(item), ...languageHeaders),
    handler: async ({ ctx, query, request, reply }) =>
      await listEntries(
        ctx,
        catalogue,
        query as unknown as ListParams,
        await languageOf(ctx, request, reply),
      ),
  });

  routes.post(url, {
    id: `create${api.name}`,
    summary: `Add ${api.singular}`,
    ...administering,
    body: api.bodies.create,
    bodyExample: api.createExample,
    answers: created('The new entry', item),
    errors: catalogue.uniqueKey ? ['key_taken'] : [],
    handler: ({ ctx, body }) => createEntry(ctx, catalogue, body as Record<string, unknown>),
  });

  routes.patch(one, {
    id: `patch${api.name}`,
    summary: `Change ${api.singular}`,
    ...administering,
    ...localised,
    body: api.bodies.patch,
    bodyExample: api.patchExample,
    answers: ok('The changed entry', item, 'ETag', ...languageHeaders),
    errors: ['precondition_failed'],
    handler: async ({ ctx, params: given, body, request, reply }) => {
      const language = await languageOf(ctx, request, reply);
      const input = body as Record<string, unknown>;
      return await patchEntry(ctx, catalogue, given[parameter]!, input, language);
    },
  });

  routes.delete(one, {
    id: `delete${api.name}`,
    summary: `Delete ${api.singular}`,
    ...(catalogue.uniqueKey ? { description: 'Built-in entries can only be disabled.' } : {}),
    ...administering,
    errors: ['precondition_failed', ...(catalogue.uniqueKey ? (['built_in_frozen'] as const) : [])],
    handler: async ({ ctx, params: given, request, reply }) =>
      await deleteEntry(ctx, catalogue, given[parameter]!, await languageOf(ctx, request, reply)),
  });
}
