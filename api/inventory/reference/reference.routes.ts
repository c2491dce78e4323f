import Type from 'typebox';
import {
  type CatalogueDocument,
  importNodes,
  loadCatalogue,
  readCatalogue,
  unloadCatalogue,
} from '../../../domain/inventory/reference/reference.catalogues.ts';
import type { CatalogueKind } from '../../../domain/inventory/reference/reference.rules.ts';
import { component } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/reference.ts';
import type { App } from '../../types.ts';

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
    version: schemas.CatalogueVersionSchema,
    [member]: Type.Array(schemas.CatalogueNodeSchema),
  });

  routes.get(url, {
    id: `read${name}Catalogue`,
    summary: `Read the catalogue of ${many}`,
    description: 'All nodes, parents before their children.',
    permission: 'inventory.view',
    query: schemas.CatalogueQuery,
    answers: ok('The catalogue', catalogue),
    handler: async ({ ctx, query }) => {
      const { version, nodes } = await readCatalogue(ctx, kind, query.locale);
      return { version, [member]: nodes };
    },
  });

  routes.post(`${url}/import`, {
    id: `import${name}Catalogue`,
    summary: `Create cards from ${many}`,
    description:
      'Creates cards for the chosen nodes and all their ancestors, with the node’s id as `external_id`. Nodes that already have a card, by this id or by name and parent, are skipped.',
    permission: 'inventory.create',
    body: schemas.CatalogueImportBody,
    bodyExample: { catalogue_ids: [example], locale: 'en' },
    answers: ok('What was made', schemas.ImportedNodesSchema),
    errors: ['conflict'],
    handler: ({ ctx, body }) => importNodes(ctx, kind, body),
  });

  routes.put(url, {
    id: `load${name}Catalogue`,
    summary: `Load a catalogue of ${many}`,
    description:
      'Replaces the present one, as `nodes` or as a table. Cards that were created from it remain.',
    permission: 'admin.metamodel',
    body: schemas.CatalogueBody,
    bodyExample: {
      catalogue_version: '2026.1',
      nodes: [{ id: example, names: { en: 'Steering', de: 'Steuerung' } }],
    },
    bodyLimit: 32 * MIB,
    answers: ok('What was loaded', schemas.LoadedCatalogueSchema),
    handler: ({ ctx, body }) => loadCatalogue(ctx, kind, body as CatalogueDocument),
  });

  routes.delete(url, {
    id: `unload${name}Catalogue`,
    summary: `Restore the bundled catalogue of ${many}`,
    permission: 'admin.metamodel',
    answers: { 204: { description: 'Done' } },
    errors: ['not_found'],
    handler: ({ ctx }) => unloadCatalogue(ctx, kind),
  });
}
