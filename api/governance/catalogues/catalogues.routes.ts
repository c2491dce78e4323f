import Type, { type TProperties, type TSchema } from 'typebox';
import {
  type Catalogue,
  catalogueLanguages,
  createEntry,
  deleteEntry,
  listEntries,
  patchEntry,
  principles,
  regulations,
  resourceTypes,
} from '../../../domain/governance/catalogues/catalogue.commands.ts';
import {
  Principle,
  Regulation,
  ResourceType,
  resourceKinds,
} from '../../../domain/governance/catalogues/catalogues.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { ListParams } from '../../../domain/kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../../domain/kernel/metamodel/languages.ts';
import { Choice, itemComponent, Nullable, object } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf, listQuery } from '../../schemas.ts';
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
const KindFilter = Choice(resourceKinds, 'Only link types, or only file categories');

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
    schema: PrincipleSchema,
    filters: {},
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
    filters: { enabled_only: enabledOnly },
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
    filters: { enabled_only: enabledOnly, kind: Type.Optional(KindFilter) },
    bodies: resourceTypeBodies,
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
  const languages = (ctx: Ctx) => catalogueLanguages(ctx.db, catalogue);
  const localised = catalogue.translated ? { languages } : {};

  routes.get(url, {
    id: `list${api.names}`,
    summary: `List ${api.plural}`,
    permission: 'login',
    ...localised,
    query: listQuery(catalogue.list(DEFAULT_LANGUAGE).sorts, 'sort_order', api.filters),
    responses: page('In order', item),
    handler: ({ ctx, query, language }) =>
      listEntries(ctx, catalogue, query as unknown as ListParams, language),
  });

  routes.post(url, {
    id: `create${api.name}`,
    summary: `Add ${api.singular}`,
    ...administering,
    body: api.bodies.create,
    bodyExample: api.createExample,
    responses: created('The new entry', item),
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
    responses: ok('The changed entry', item, 'ETag'),
    handler: ({ ctx, params, body, language }) =>
      patchEntry(ctx, catalogue, params[parameter]!, body as Record<string, unknown>, language),
  });

  routes.delete(one, {
    id: `delete${api.name}`,
    summary: `Delete ${api.singular}`,
    ...(catalogue.uniqueKey ? { description: 'Built-in entries can only be disabled.' } : {}),
    ...administering,
    ...localised,
    ifMatch: true,
    errors: [...(catalogue.uniqueKey ? (['built_in_frozen'] as const) : [])],
    handler: ({ ctx, params, language }) => deleteEntry(ctx, catalogue, params[parameter]!, language),
  });
}
