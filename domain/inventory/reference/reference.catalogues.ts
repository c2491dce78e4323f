import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows } from '../../kernel/resources/rows.ts';
import { createCardsWithin } from '../cards/bulk/bulk.create.ts';
import type { CardColumns } from '../cards/cards.model.ts';
import { visibleCards } from '../cards/cards.projection.ts';
import { type BulkOperation, bulkRelationsWithin } from '../relations/relations.bulk.ts';
import { ReferenceCatalogue } from './reference.extension.ts';
import {
  BUNDLED_VERSION,
  bundledCatalogue,
  type Catalogue,
  type CatalogueKind,
  type CatalogueNode,
  type CatalogueRelation,
  catalogueKinds,
  compareCatalogues,
  FALLBACK_LANGUAGE,
  type GivenNode,
  localised,
  MAX_NODES,
  nodesOfCsv,
  readNodes,
  withAncestors,
  withoutDeprecated,
} from './reference.rules.ts';

/** The active catalogue of a kind: the loaded one, else the bundled one. */
async function catalogueOf(sql: Sql, kind: CatalogueKind): Promise<Catalogue> {
  const [loaded] = await findRows(sql, ReferenceCatalogue, (query) => query.where({ kind }));
  if (!loaded) return bundledCatalogue(kind);
  const { catalogue_version: version, source, nodes, loaded_at, url } = loaded;
  return { kind, version, generatedAt: new Date(loaded_at).toISOString(), source, nodes, url };
}

/**
 * The cards that represent nodes: those with the node's id as external id, else with one of its names below the card of
 * the parent node. Archived cards only count by their external id.
 * @param sees only cards that are visible to the caller.
 */
async function existingCards(
  sql: Sql,
  ctx: Ctx,
  { kind, nodes }: Pick<Catalogue, 'kind' | 'nodes'>,
  sees: boolean,
): Promise<Map<string, string>> {
  const { type } = catalogueKinds[kind];
  const visible = sees ? visibleCards(ctx) : fragment`true`;
  const rows = await query(sql).rows<
    Pick<CardColumns, 'id' | 'external_id' | 'parent_id' | 'name' | 'status'>
  >`select c.id, c.external_id, c.parent_id, lower(c.name) as name, c.status
     from cards c where c.type = ${type} and ${embed(visible)}
       and (c.external_id = any(${nodes.map(({ id }) => id)}::text[])
       or (c.status = 'ACTIVE' and lower(c.name) = any(
         select lower(n) from unnest(${nodes.flatMap(namesOf)}::text[]) n)))`;
  const byExternalId = new Map<string, string>();
  const examplesByMember = new Map<string, string>();
  for (const { id, external_id, parent_id, name, status } of rows) {
    if (external_id !== null) byExternalId.set(external_id, id);
    if (status === 'ACTIVE') examplesByMember.set(`${parent_id ?? ''}/${name}`, id);
  }
  const found = new Map<string, string>();
  for (const node of nodes) {
    const above = node.parent_id === null ? '' : found.get(node.parent_id);
    const named =
      above === undefined
        ? undefined
        : namesOf(node)
            .map((name) => examplesByMember.get(`${above}/${name.toLowerCase()}`))
            .find((id) => id !== undefined);
    const card = byExternalId.get(node.id) ?? named;
    if (card !== undefined) found.set(node.id, card);
  }
  return found;
}

const namesOf = ({ names }: CatalogueNode): string[] => Object.values(names);

const MOST_WARNINGS = 100;

/** A catalogue in one language. @throws EstateError `forbidden`. */
export async function readCatalogue(
  ctx: Ctx,
  kind: CatalogueKind,
  {
    locale = FALLBACK_LANGUAGE,
    include_deprecated: isWhole,
  }: { locale?: string | undefined; include_deprecated: boolean },
) {
  requirePermission(ctx.caller, 'inventory.view');
  const catalogue = await catalogueOf(ctx.db, kind);
  const siblings = new Map<string | null, number>();
  const existing = await existingCards(ctx.db, ctx, catalogue, true);
  return {
    version: {
      catalogue_version: catalogue.version,
      schema_version: '1',
      generated_at: catalogue.generatedAt,
      node_count: catalogue.nodes.length,
      ...countsOf(kind, catalogue.nodes),
      source: catalogue.source,
      url: may(ctx.caller, 'admin.metamodel') ? (catalogue.url ?? null) : null,
      bundled_version: BUNDLED_VERSION,
    },
    nodes: (isWhole ? catalogue.nodes : withoutDeprecated(catalogue.nodes)).map((node) => {
      const { id, level, parent_id, names, descriptions, industry, notes = {} } = node;
      const order = (siblings.get(parent_id) ?? 0) + 1;
      siblings.set(parent_id, order);
      return {
        id,
        name: localised(names, locale)!,
        level,
        parent_id,
        order,
        description: localised(descriptions, locale) ?? null,
        notes: localised(notes, locale) ?? null,
        industry,
        aliases: node.aliases ?? [],
        references: node.references ?? [],
        framework_ids: node.framework_ids ?? {},
        is_deprecated: node.is_deprecated ?? false,
        capability_ids: node.capability_ids ?? [],
        process_ids: node.process_ids ?? [],
        existing_card_id: existing.get(id) ?? null,
      };
    }),
  };
}

/** The number of nodes by the kind's name; of capabilities, of first-level nodes and those without children. */
function countsOf(kind: CatalogueKind, nodes: readonly CatalogueNode[]) {
  if (kind === 'process') return { process_count: nodes.length };
  if (kind === 'value_stream') return { value_stream_count: nodes.length };
  const parents = new Set(nodes.map(({ parent_id }) => parent_id));
  const areas = nodes.filter(({ level }) => level === 1);
  const bare = areas.filter(({ id }) => !parents.has(id));
  return {
    macro_count: areas.length,
    macro_warnings: bare.slice(0, MOST_WARNINGS).map(({ id }) => `Nothing lies below ${id}.`),
  };
}

export interface CatalogueDocument {
  catalogue_version?: string;
  source?: string;
  /** One of these two. */
  nodes?: GivenNode[];
  csv?: string;
  /** Where the document was read. */
  url?: string;
}

/** The entries of a document, parents first. @throws EstateError `validation_failed`. */
function nodesIn({ nodes, csv }: CatalogueDocument, kind: CatalogueKind): CatalogueNode[] {
  if ((nodes === undefined) === (csv === undefined)) {
    throw invalidField('nodes', 'required', 'must be given, or csv or url instead of it');
  }
  const field = nodes ? 'nodes' : 'csv';
  const given = nodes ?? nodesOfCsv(csv!, catalogueKinds[kind].type);
  if (given.length === 0 || given.length > MAX_NODES) {
    throw invalidField(field, 'out_of_range', `must hold 1 to ${MAX_NODES} entries`);
  }
  const read = readNodes(given, field);
  if ('code' in read[0]!) throw invalidFields(read as FieldError[]);
  return read as CatalogueNode[];
}

/**
 * Compares a document with the active catalogue.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function compareCatalogue(ctx: Ctx, kind: CatalogueKind, document: CatalogueDocument) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const version = requireVersion(document);
  return compareCatalogues(await catalogueOf(ctx.db, kind), version, nodesIn(document, kind));
}

function requireVersion({ catalogue_version, url }: CatalogueDocument): string {
  if (catalogue_version !== undefined) return catalogue_version;
  throw url === undefined
    ? invalidField('catalogue_version', 'required', 'is missing')
    : invalidField('url', 'bad_document', 'has a document without catalogue_version');
}

/** The address of which the active catalogue was loaded. @throws EstateError `forbidden`, `wrong_state` without one. */
export async function catalogueUrl(ctx: Ctx, kind: CatalogueKind): Promise<string> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { url } = await catalogueOf(ctx.db, kind);
  if (url) return url;
  throw new EstateError('wrong_state', 'The catalogue was not loaded from an address; give one as url.');
}

/**
 * Replaces the catalogue of a kind. Cards that were created from the former one remain.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function loadCatalogue(ctx: Ctx, kind: CatalogueKind, document: CatalogueDocument) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { source = 'loaded', url = null } = document;
  const catalogue_version = requireVersion(document);
  const read = nodesIn(document, kind);
  return await command(ctx, async (work) => {
    await query(work.sql).run`insert into reference_catalogues
      (kind, catalogue_version, source, url, nodes)
      values (${kind}, ${catalogue_version}, ${source}, ${url}, ${JSON.stringify(read)}::jsonb)
       on conflict (kind) do update set catalogue_version = excluded.catalogue_version,
       source = excluded.source, url = excluded.url,
         nodes = excluded.nodes, loaded_at = clock_timestamp()`;
    const loaded = { kind, catalogue_version, node_count: read.length };
    work.emit({ event_type: 'reference_catalogue.loaded', data: { id: kind, source, ...loaded } });
    return loaded;
  });
}

/** Restores the bundled catalogue of a kind. @throws EstateError `forbidden`, `not_found` if none was loaded. */
export async function unloadCatalogue(ctx: Ctx, kind: CatalogueKind): Promise<void> {
  requirePermission(ctx.caller, 'admin.metamodel');
  await command(ctx, async (work) => {
    const removed = await deleteRows(work.sql, ReferenceCatalogue, (query) => query.where({ kind }));
    if (removed.length === 0) throw notFound('loaded catalogue', kind);
    work.emit({ event_type: 'reference_catalogue.removed', data: { id: kind, kind } });
  });
}

/**
 * Creates cards of chosen nodes and of their ancestors, with the node's id as external id. Nodes that already have
 * cards are skipped, so that a repeated import creates nothing. All or nothing, except for relations that are refused.
 * @throws EstateError `forbidden`, `validation_failed` naming unknown ids, `conflict` if a card cannot be created.
 */
export async function importNodes(
  ctx: Ctx,
  kind: CatalogueKind,
  { catalogue_ids, locale }: { catalogue_ids: string[]; locale?: string | null },
) {
  requirePermission(ctx.caller, 'inventory.create');
  return await command(ctx, async (work) => {
    // Concurrent imports of the same catalogue are serialised.
    await query(work.sql).run`select pg_advisory_xact_lock(hashtextextended(${`catalogue/${kind}`}, 0))`;
    const catalogue = await catalogueOf(work.sql, kind);
    const { levels, unknown } = withAncestors(catalogue.nodes, catalogue_ids);
    if (unknown.length > 0) {
      const n = catalogue_ids.indexOf(unknown[0]!);
      throw invalidField(`catalogue_ids.${n}`, 'unknown_value', 'is no id of the catalogue');
    }
    const { type, subtypes } = catalogueKinds[kind];
    const cards = await existingCards(work.sql, ctx, { kind, nodes: levels.flat() }, false);
    const known = work.metamodel.cardTypes.get(type)?.subtypeKeys;
    let created = 0;
    for (const [depth, nodes] of levels.entries()) {
      const missing = nodes.filter(({ id }) => !cards.has(id));
      const subtype = subtypes[Math.min(depth, subtypes.length - 1)];
      const results = await createCardsWithin(
        work,
        ctx,
        missing.map(({ id, parent_id, names, descriptions }, row_index) => ({
          row_index,
          type,
          name: localised(names, locale ?? FALLBACK_LANGUAGE)!,
          external_id: id,
          description: localised(descriptions, locale ?? FALLBACK_LANGUAGE) ?? null,
          ...(parent_id === null ? {} : { parent_id: cards.get(parent_id)! }),
          ...(subtype !== undefined && known?.has(subtype) ? { subtype } : {}),
        })),
      );
      for (const [n, result] of results.entries()) {
        const { id } = missing[n]!;
        if (result.id === null) throw new EstateError('conflict', `${id}: ${result.error}`);
        cards.set(id, result.id);
        created += 1;
      }
    }
    const { written, refused } = await relateNodes(work, ctx, kind, levels.flat(), cards);
    const total = levels.flat().length;
    const ids = [...new Set(catalogue_ids)].map((id) => cards.get(id)!);
    const relations = { relations_created: written, relations_refused: refused };
    return { created, skipped: total - created, ids, ...relations };
  });
}

/**
 * Relates the cards of nodes to those of the nodes that they name in other catalogues, as far as these have cards.
 * @param cards the cards by the ids of the nodes.
 */
async function relateNodes(
  work: Work,
  ctx: Ctx,
  kind: CatalogueKind,
  nodes: readonly CatalogueNode[],
  cards: ReadonlyMap<string, string>,
): Promise<{ written: number; refused: number }> {
  const operations: BulkOperation[] = [];
  for (const { member, type, other, ...relation } of catalogueKinds[kind]
    .relations as readonly CatalogueRelation[]) {
    const ids = nodes.flatMap((node) => node[member] ?? []);
    if (ids.length === 0 || !work.metamodel.relationTypes.has(type)) continue;
    const rows = await query(work.sql).rows<{ id: string; external_id: string }>`select c.id, c.external_id
      from cards c where c.type = ${other} and c.status = 'ACTIVE' and c.external_id = any(${ids}::text[])
      and (${embed(visibleCards(ctx))})`;
    const others = new Map(rows.map(({ id, external_id }) => [external_id, id]));
    for (const node of nodes) {
      for (const id of new Set(node[member] ?? [])) {
        const [own, related] = [cards.get(node.id), others.get(id)];
        if (own === undefined || related === undefined) continue;
        const [source, target] = relation.isTarget ? [related, own] : [own, related];
        const row_index = operations.length;
        operations.push({
          row_index,
          action: 'upsert',
          type,
          source: { id: source },
          target: { id: target },
        });
      }
    }
  }
  if (operations.length === 0) return { written: 0, refused: 0 };
  const results = await bulkRelationsWithin(work, ctx, operations);
  const count = (status: string) => results.filter((result) => result.status === status).length;
  return { written: count('upserted'), refused: count('failed') };
}
