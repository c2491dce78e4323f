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
import { routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/reference.ts';
import type { App } from '../../types.ts';

const MIB = 2 ** 20;

interface Offered {
  kind: CatalogueKind;
  path: string;
  /** In names of operations. */
  name: string;
  /** What its nodes are called, also as the member that holds them. */
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

/** Catalogues of what most enterprises have, from which cards are made. */
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
    description: 'Whole, parents before what lies below them.',
    permission: 'inventory.view',
    query: schemas.CatalogueQuery,
    answers: { 200: { description: 'The catalogue', schema: catalogue } },
    handler: async ({ ctx, query }) => {
      const { version, nodes } = await readCatalogue(ctx, kind, query.locale);
      return { version, [member]: nodes };
    },
  });

  routes.post(`${url}/import`, {
    id: `import${name}Catalogue`,
    summary: `Make cards of ${many}`,
    description:
      'Of the chosen ones and of all above them, with the id as `external_id`. Those for which there are cards, by this id or by their name in the same place, are left as they are.',
    permission: 'inventory.create',
    body: schemas.CatalogueImportBody,
    bodyExample: { catalogue_ids: [example], locale: 'en' },
    answers: { 200: { description: 'What was made', schema: schemas.ImportedNodesSchema } },
    errors: ['conflict'],
    handler: ({ ctx, body }) => importNodes(ctx, kind, body),
  });

  routes.put(url, {
    id: `load${name}Catalogue`,
    summary: `Load a catalogue of ${many}`,
    description: 'In the place of the present one, as `nodes` or as a table. Cards that were made stay.',
    permission: 'admin.metamodel',
    body: schemas.CatalogueBody,
    bodyExample: {
      catalogue_version: '2026.1',
      nodes: [{ id: example, names: { en: 'Steering', de: 'Steuerung' } }],
    },
    bodyLimit: 32 * MIB,
    answers: { 200: { description: 'What was loaded', schema: schemas.LoadedCatalogueSchema } },
    handler: ({ ctx, body }) => loadCatalogue(ctx, kind, body as CatalogueDocument),
  });

  routes.delete(url, {
    id: `unload${name}Catalogue`,
    summary: `Go back to the bundled catalogue of ${many}`,
    permission: 'admin.metamodel',
    answers: { 204: { description: 'Done' } },
    errors: ['not_found'],
    handler: ({ ctx }) => unloadCatalogue(ctx, kind),
  });
}
