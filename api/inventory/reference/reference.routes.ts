import Type from 'typebox';
import {
  type CatalogueDocument,
  catalogueUrl,
  compareCatalogue,
  importNodes,
  loadCatalogue,
  readCatalogue,
  unloadCatalogue,
} from '../../../domain/inventory/reference/reference.catalogues.ts';
import {
  documentMembers,
  NodeId as Id,
  Locale,
  nodeDetails,
} from '../../../domain/inventory/reference/reference.document.ts';
import { ReferenceCatalogue } from '../../../domain/inventory/reference/reference.extension.ts';
import type { CatalogueKind } from '../../../domain/inventory/reference/reference.rules.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Clearable,
  Count,
  component,
  Flag,
  Nullable,
  NullableText,
  object,
  optional,
  partialObject,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { fetchCatalogue } from '../../../integrations/inventory/reference/catalogue.fetch.ts';
import { invalidField } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const CatalogueQuery = object({
  locale: Type.Optional(
    Type.String({ ...Locale, description: 'Texts without a translation are in English' }),
  ),
  include_deprecated: Flag('Also deprecated nodes'),
});

const CatalogueVersionSchema = component('CatalogueVersion', {
  catalogue_version: Type.String(),
  schema_version: Type.String(),
  generated_at: Timestamp,
  node_count: Count,
  ...optional({
    process_count: Count,
    value_stream_count: Count,
    macro_count: Type.Integer({ minimum: 0, description: 'Of capabilities: number of first-level nodes' }),
    macro_warnings: Type.Array(Type.String(), {
      description: 'Of capabilities: number of first-level nodes without children',
    }),
  }),
  source: Type.String({ description: '`bundled`, or the source given when it was loaded' }),
  url: NullableText('Where it was loaded from; null without `admin.metamodel`'),
  bundled_version: Type.String(),
});
const CatalogueNodeSchema = component('CatalogueNode', {
  id: Id,
  name: Type.String(),
  level: Type.Integer({ minimum: 1 }),
  parent_id: Nullable(Id),
  order: Type.Integer({
    minimum: 1,
    description: 'Among its siblings, such as the stages of a value stream',
  }),
  description: Nullable(Type.String()),
  notes: Nullable(Type.String()),
  industry: Type.String(),
  ...nodeDetails,
  existing_card_id: Nullable(
    Type.String({ ...Uuid, description: 'The existing card of the node, if the caller sees it' }),
  ),
});

const CatalogueImportBody = object({
  catalogue_ids: Type.Array(Id, { minItems: 1, maxItems: 2000, description: 'Duplicates count once' }),
  locale: Clearable(Locale),
});
const ImportedNodesSchema = component('ImportedCatalogueNodes', {
  created: Count,
  skipped: Type.Integer({ minimum: 0, description: 'Number of nodes that already had cards' }),
  ids: Type.Array(Uuid, { description: 'The cards of the chosen nodes, both new and existing' }),
  relations_created: Count,
  relations_refused: Type.Integer({ minimum: 0, description: 'Relations that the caller may not create' }),
});

const { kind, catalogue_version } = ReferenceCatalogue.columns;
const Url = Type.String({
  minLength: 1,
  maxLength: 2000,
  format: 'uri',
  description: 'The https address of a JSON document with the members of this request',
});
const CatalogueBody = partialObject({ ...documentMembers, url: Url });
const ComparedCatalogueSchema = component('ComparedCatalogue', {
  url: Type.String(),
  catalogue_version: Type.String({ description: 'The published one' }),
  current_version: Type.String(),
  is_newer: Type.Boolean({ description: 'Whether the published version is the higher one' }),
  node_count: Count,
  added: Count,
  changed: Count,
  removed: Count,
});
const LoadedCatalogueSchema = component('LoadedCatalogue', {
  kind,
  catalogue_version,
  node_count: Type.Integer({ minimum: 1 }),
});

const MIB = 2 ** 20;

interface Offered {
  kind: CatalogueKind;
  path: string;
  /** Used in operation ids. */
  name: string;
  /** Plural of its nodes; also the name of the member that lists them. */
  member: string;
  many: string;
  example: string;
}

const catalogues: Offered[] = [
  {
    kind: 'capability',
    path: 'capability-catalogue',
    name: 'Capability',
    member: 'capabilities',
    many: 'capabilities',
    example: 'BC-100.10.20',
  },
  {
    kind: 'process',
    path: 'process-catalogue',
    name: 'Process',
    member: 'processes',
    many: 'processes',
    example: 'BP-300.10',
  },
  {
    kind: 'value_stream',
    path: 'value-stream-catalogue',
    name: 'ValueStream',
    member: 'value_streams',
    many: 'value streams',
    example: 'VS-200',
  },
];

/** Reference catalogues, from which cards can be created. */
export function registerReferenceRoutes(app: App, services: Services): void {
  for (const offered of catalogues) registerCatalogue(app, offered, services);
}

function registerCatalogue(
  app: App,
  { kind, path, name, member, many, example }: Offered,
  { outbound }: Services,
): void {
  const routes = routesOf(app, { tag: 'Reference catalogues' });

  const url = `/api/v1/${path}`;
  const catalogue = component(`${name}Catalogue`, {
    version: CatalogueVersionSchema,
    [member]: Type.Array(CatalogueNodeSchema),
  });

  routes.get(`read${name}Catalogue`, url, {
    summary: `Read the catalogue of ${many}`,
    description: 'All nodes, parents before their children.',
    permission: 'inventory.view',
    query: CatalogueQuery,
    responses: ok('The catalogue', catalogue),
    handler: async ({ ctx, query }) => {
      const { version, nodes } = await readCatalogue(ctx, kind, query);
      return { version, [member]: nodes };
    },
  });

  routes.post(`import${name}Catalogue`, `${url}/import`, {
    summary: `Create cards from ${many}`,
    description:
      'Creates cards for the chosen nodes and all their ancestors, with the node’s id as `external_id`. Nodes that already have a card, by this id or by name and parent, are skipped. Cards are related to those of the `capability_ids` and `process_ids` of their nodes.',
    permission: 'inventory.create',
    permissionNote: 'relations.manage for relations',
    body: CatalogueImportBody,
    bodyExample: { catalogue_ids: [example], locale: 'en' },
    responses: ok('What was made', ImportedNodesSchema),
    errors: ['conflict'],
    handler: ({ ctx, body }) => importNodes(ctx, kind, body),
  });

  routes.put(`load${name}Catalogue`, url, {
    summary: `Load a catalogue of ${many}`,
    description:
      'Replaces the present one, as `nodes`, as a table, or by a document that is read from `url`. Cards that were created from it remain.',
    permission: 'admin.metamodel',
    body: CatalogueBody,
    bodyExample: {
      catalogue_version: '2026.1',
      nodes: [{ id: example, names: { en: 'Steering', de: 'Steuerung' } }],
    },
    bodyLimit: 32 * MIB,
    responses: ok('What was loaded', LoadedCatalogueSchema),
    errors: ['upstream_failed'],
    handler: async ({ ctx, body }) => {
      const { url, ...given } = body as CatalogueDocument;
      if (url !== undefined && (given.nodes ?? given.csv) !== undefined)
        throw invalidField('url', 'not_offered', 'cannot be given together with nodes or csv');
      const document = url === undefined ? given : { ...(await fetchCatalogue(outbound, url)), ...given };
      return await loadCatalogue(ctx, kind, document);
    },
  });

  routes.post(`compare${name}Catalogue`, `${url}/compare`, {
    summary: `Compare the catalogue of ${many} with a published one`,
    description:
      'Reads the document at `url`, or else where the present catalogue was loaded from, and says what loading it would change.',
    permission: 'admin.metamodel',
    body: partialObject({ url: Url }),
    responses: ok('What differs', ComparedCatalogueSchema),
    errors: ['upstream_failed', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const from = body.url ?? (await catalogueUrl(ctx, kind));
      const compared = await compareCatalogue(ctx, kind, await fetchCatalogue(outbound, from));
      return { url: from, ...compared };
    },
  });

  routes.delete(`unload${name}Catalogue`, url, {
    summary: `Restore the bundled catalogue of ${many}`,
    permission: 'admin.metamodel',
    responses: { 204: { description: 'Done' } },
    errors: ['not_found'],
    handler: ({ ctx }) => unloadCatalogue(ctx, kind),
  });
}
