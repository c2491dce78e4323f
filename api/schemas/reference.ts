import Type from 'typebox';
import { ReferenceCatalogue } from '../../domain/inventory/reference/reference.extension.ts';
import { component, Nullable, object, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Id = Type.String({ minLength: 1, maxLength: 200, examples: ['BC-100.10'] });
const Locale = Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$', examples: ['de'] });
export const CatalogueQuery = object({
  locale: Type.Optional(
    Type.String({ ...Locale, description: 'Texts without a translation are in English' }),
  ),
});

export const CatalogueVersionSchema = component('CatalogueVersion', {
  catalogue_version: Type.String(),
  schema_version: Type.String(),
  generated_at: Timestamp,
  node_count: Type.Integer({ minimum: 0 }),
  process_count: Type.Optional(Type.Integer({ minimum: 0 })),
  value_stream_count: Type.Optional(Type.Integer({ minimum: 0 })),
  macro_count: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Of capabilities: number of first-level nodes' }),
  ),
  macro_warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Of capabilities: number of first-level nodes without children',
    }),
  ),
  source: Type.String({ description: '`bundled`, or the source given when it was loaded' }),
  bundled_version: Type.String(),
});
export const CatalogueNodeSchema = component('CatalogueNode', {
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

export const CatalogueImportBody = object({
  catalogue_ids: Type.Array(Id, { minItems: 1, maxItems: 2000, description: 'Duplicates count once' }),
  locale: Type.Optional(Nullable(Locale)),
});
export const ImportedNodesSchema = component('ImportedCatalogueNodes', {
  created: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0, description: 'Number of nodes that already had cards' }),
  ids: Type.Array(Uuid, { description: 'The cards of the chosen nodes, both new and existing' }),
});

const { kind, catalogue_version, source } = ReferenceCatalogue.columns;
const Texts = (maxLength: number) =>
  Type.Record(Locale, Type.String({ maxLength }), { maxProperties: 20, description: 'By language' });
export const CatalogueBody = object({
  catalogue_version,
  source: Type.Optional(source),
  nodes: Type.Optional(
    Type.Array(
      object({
        id: Id,
        parent_id: Type.Optional(Nullable(Id)),
        names: Texts(500),
        descriptions: Type.Optional(Texts(10_000)),
        industry: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      }),
      { minItems: 1, maxItems: 20_000, description: 'Parents before their children' },
    ),
  ),
  csv: Type.Optional(
    Type.String({
      maxLength: 16_000_000,
      description:
        'Instead of `nodes`, a table: `id`, `parent_id`, `industry`, `name`, `description`, and by language `name.de`; or one of cards, with `type`, `external_id` and `parent_external_id`',
    }),
  ),
});
export const LoadedCatalogueSchema = component('LoadedCatalogue', {
  kind,
  catalogue_version,
  node_count: Type.Integer({ minimum: 1 }),
});
