import Type from 'typebox';
import {
  type CatalogueDocument,
  importNodes,
  loadCatalogue,
  readCatalogue,
  unloadCatalogue,
} from '../../../domain/inventory/reference/reference.catalogues.ts';
import { ReferenceCatalogue } from '../../../domain/inventory/reference/reference.extension.ts';
import type { CatalogueKind } from '../../../domain/inventory/reference/reference.rules.ts';
import {
  Clearable,
  Count,
  component,
  Nullable,
  object,
  optional,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const Id = Type.String({ minLength: 1, maxLength: 200, examples: ['BC-100.10'] });
const Locale = Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$', examples: ['de'] });
const CatalogueQuery = object({
  locale: Type.Optional(
    Type.String({ ...Locale, description: 'Texts without a translation are in English' }),
  ),
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
  bundled_version: Type.String(),
});
const CatalogueNodeSchema = component('CatalogueNode', {
  id: Id,
  name: Type.String(),
  level: Type.Integer({ minimum: 1 }),
  parent_id: Nullable(Id),
  description: Nullable(Type.String()),
  industry: Type.String(),
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
});

const { kind, catalogue_version, source } = ReferenceCatalogue.columns;
const Texts = (maxLength: number) =>
  Type.Record(Locale, Type.String({ maxLength }), { maxProperties: 20, description: 'By language' });
const CatalogueBody = object({
  catalogue_version,
  ...optional({
    source: source,
    nodes: Type.Array(
      object({
        id: Id,
        parent_id: Clearable(Id),
        names: Texts(500),
        descriptions: Type.Optional(Texts(10_000)),
        industry: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      }),
      { minItems: 1, maxItems: 20_000, description: 'Parents before their children' },
    ),
    csv: Type.String({
      maxLength: 16_000_000,
      description:
        'Instead of `nodes`, a table: `id`, `parent_id`, `industry`, `name`, `description`, and by language `name.de`; or one of cards, with `type`, `external_id` and `parent_external_id`',
    }),
  }),
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
export function registerReferenceRoutes(app: App): void {
  for (const offered of catalogues) registerCatalogue(app, offered);
}

function registerCatalogue(app: App, { kind, path, name, member, many, example }: Offered): void {
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
      const { version, nodes } = await readCatalogue(ctx, kind, query.locale);
      return { version, [member]: nodes };
    },
  });

  routes.post(`import${name}Catalogue`, `${url}/import`, {
    summary: `Create cards from ${many}`,
    description:
      'Creates cards for the chosen nodes and all their ancestors, with the node’s id as `external_id`. Nodes that already have a card, by this id or by name and parent, are skipped.',
    permission: 'inventory.create',
    body: CatalogueImportBody,
    bodyExample: { catalogue_ids: [example], locale: 'en' },
    responses: ok('What was made', ImportedNodesSchema),
    errors: ['conflict'],
    handler: ({ ctx, body }) => importNodes(ctx, kind, body),
  });

  routes.put(`load${name}Catalogue`, url, {
    summary: `Load a catalogue of ${many}`,
    description:
      'Replaces the present one, as `nodes` or as a table. Cards that were created from it remain.',
    permission: 'admin.metamodel',
    body: CatalogueBody,
    bodyExample: {
      catalogue_version: '2026.1',
      nodes: [{ id: example, names: { en: 'Steering', de: 'Steuerung' } }],
    },
    bodyLimit: 32 * MIB,
    responses: ok('What was loaded', LoadedCatalogueSchema),
    handler: ({ ctx, body }) => loadCatalogue(ctx, kind, body as CatalogueDocument),
  });

  routes.delete(`unload${name}Catalogue`, url, {
    summary: `Restore the bundled catalogue of ${many}`,
    permission: 'admin.metamodel',
    responses: { 204: { description: 'Done' } },
    errors: ['not_found'],
    handler: ({ ctx }) => unloadCatalogue(ctx, kind),
  });
}
