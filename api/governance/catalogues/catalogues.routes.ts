import Type, { type TProperties, type TSchema } from 'typebox';
import {
  type Catalogue,
  catalogueLanguages,
  createEntry,
  deleteEntry,
  importPrinciples,
  patchEntry,
  principleLanguages,
  principles,
  readPrinciplesCatalogue,
  regulations,
  resourceTypes,
} from '../../../domain/governance/catalogues/catalogue.commands.ts';
import {
  Principle,
  Regulation,
  ResourceType,
} from '../../../domain/governance/catalogues/catalogues.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { defineLabelled } from '../../../domain/kernel/lists/lists.define.ts';
import {
  Count,
  component,
  DateOnly,
  itemComponent,
  Nullable,
  NullableId,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Text = Principle.columns.description;
const SortOrder = Principle.columns.sort_order;
const Key = Regulation.columns.key;
const Kind = ResourceType.columns.kind;
const Translations = Type.Record(Type.String(), Type.String(), {
  description: 'The label by language, such as `de`',
});

const PrincipleSchema = itemComponent('Principle', Principle.columns);
const RegulationSchema = itemComponent('ComplianceRegulation', Regulation.columns);
const ResourceTypeSchema = itemComponent('ResourceType', ResourceType.columns);

const principle = {
  description: Text,
  rationale: Text,
  implications: Text,
  is_active: Type.Boolean(),
  sort_order: SortOrder,
};
const catalogueBodies = <R extends TProperties, O extends TProperties>(required: R, optional: O) => {
  const { create, patch } = bodiesOf(required, optional);
  const { key: _, kind: __, ...members } = patch.properties as TProperties;
  return { create, patch: object(members, { minProperties: 1 }) };
};
const principleBodies = catalogueBodies({ title: line(300) }, principle);

const entry = {
  description: Text,
  is_enabled: Type.Boolean(),
  sort_order: SortOrder,
  translations: Translations,
};
const regulationBodies = catalogueBodies({ key: Key, label: line(300) }, entry);

const resourceTypeBodies = catalogueBodies(
  { kind: Kind, key: Key, label: line(300) },
  { ...entry, icon: Nullable(Type.String({ maxLength: 100 })) },
);

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
  bodies: { create: TSchema; patch: TSchema };
  createExample: object;
  patchExample: object;
}

const catalogues: CatalogueApi[] = [
  {
    catalogue: principles,
    path: 'principles',
    name: 'Principle',
    names: 'Principles',
    parameter: 'principle_id',
    singular: 'an architecture principle',
    plural: 'architecture principles',
    schema: PrincipleSchema,
    bodies: principleBodies,
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
    schema: RegulationSchema,
    bodies: regulationBodies,
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
    schema: ResourceTypeSchema,
    bodies: resourceTypeBodies,
    createExample: { kind: 'link_type', key: 'runbook', label: 'Runbook', icon: 'menu_book' },
    patchExample: { label: 'Run book' },
  },
];

/** Principles, regulations, link types and file categories. */
export function registerCatalogueRoutes(app: App): void {
  for (const api of catalogues) registerCatalogue(app, api);
  registerPrinciplesCatalogue(app);
}

function registerCatalogue(app: App, api: CatalogueApi): void {
  const { catalogue, parameter } = api;
  const routes = routesOf(app, { tag: 'Metamodel' });
  const url = `/api/v1/metamodel/${api.path}`;
  const one = `${url}/:${parameter}`;
  const item = api.schema;
  const administering = { permission: 'admin.metamodel' } as const;
  const languages = (ctx: Ctx) => catalogueLanguages(ctx.db, catalogue);
  const localised = catalogue.translated ? { languages } : {};

  routes.list(`list${api.names}`, url, defineLabelled(catalogue.list), {
    summary: `List ${api.plural}`,
    permission: 'login',
    ...localised,
    responses: page('In order', item),
  });

  routes.post(`create${api.name}`, url, {
    summary: `Add ${api.singular}`,
    ...administering,
    body: api.bodies.create,
    bodyExample: api.createExample,
    responses: created('The new entry', item),
    errors: catalogue.translated ? ['key_taken'] : [],
    handler: ({ ctx, body }) => createEntry(ctx, catalogue, body as Record<string, unknown>),
  });

  routes.patch(`patch${api.name}`, one, {
    summary: `Change ${api.singular}`,
    ...administering,
    ...localised,
    body: api.bodies.patch,
    bodyExample: api.patchExample,
    responses: ok('The changed entry', item, 'ETag'),
    handler: ({ ctx, params, body, language }) =>
      patchEntry(ctx, catalogue, params[parameter]!, body as Record<string, unknown>, language),
  });

  routes.delete(`delete${api.name}`, one, {
    summary: `Delete ${api.singular}`,
    ...(catalogue.translated ? { description: 'Built-in entries can only be disabled.' } : {}),
    ...administering,
    ...localised,
    ifMatch: true,
    errors: catalogue.translated ? ['built_in_frozen'] : [],
    handler: ({ ctx, params, language }) => deleteEntry(ctx, catalogue, params[parameter]!, language),
  });
}

const Id = Type.String({ minLength: 1, maxLength: 100, examples: ['EAP-03'] });

const CatalogueSchema = component('PrinciplesCatalogue', {
  catalogue_version: Type.String(),
  generated_at: DateOnly,
  principles: Type.Array(
    object({
      id: Id,
      title: Type.String(),
      description: Nullable(Type.String()),
      rationale: Type.String(),
      implications: Type.String(),
      existing_principle_id: NullableId('The principle that was imported from it'),
    }),
  ),
});
const ImportedSchema = component('ImportedPrinciples', {
  created: Count,
  skipped: Type.Integer({ minimum: 0, description: 'Principles that were imported before' }),
  ids: Type.Array(Uuid, { description: 'The principles in the order of the request' }),
});

/** The bundled catalogue of principles, in English and German. */
function registerPrinciplesCatalogue(app: App): void {
  const url = '/api/v1/principles-catalogue';
  const administering = routesOf(app, {
    tag: 'Metamodel',
    permission: 'admin.metamodel',
    languages: () => principleLanguages,
  });

  administering.get('getPrinciplesCatalogue', url, {
    summary: 'Read the catalogue of principles',
    description: 'Twenty principles in English or German, to be imported and changed.',
    responses: ok('The catalogue', CatalogueSchema),
    handler: ({ ctx, language }) => readPrinciplesCatalogue(ctx, language),
  });

  administering.post('importPrinciples', `${url}/import`, {
    summary: 'Import principles from the catalogue',
    description:
      'In the language of `Accept-Language`. Principles that were imported before are not changed, so the request can be repeated.',
    body: object({ catalogue_ids: Type.Array(Id, { minItems: 1, maxItems: 200 }) }),
    responses: ok('The imported principles', ImportedSchema),
    handler: ({ ctx, body, language }) => importPrinciples(ctx, body.catalogue_ids, language),
  });
}
