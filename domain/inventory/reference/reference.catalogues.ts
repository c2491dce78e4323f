import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows } from '../../kernel/resources/rows.ts';
import { createCardsWithin } from '../cards/bulk/bulk.create.ts';
import type { CardColumns } from '../cards/cards.model.ts';
import { visibleCards } from '../cards/cards.projection.ts';
import { ReferenceCatalogue } from './reference.extension.ts';
import {
  BUNDLED_VERSION,
  bundledCatalogue,
  type Catalogue,
  type CatalogueKind,
  type CatalogueNode,
  catalogueKinds,
  FALLBACK_LANGUAGE,
  type GivenNode,
  localised,
  MAX_NODES,
  nodesOfCsv,
  readNodes,
  withAncestors,
} from './reference.rules.ts';

/** The active catalogue of a kind: the loaded one, else the bundled one. */
async function catalogueOf(sql: Sql, kind: CatalogueKind): Promise<Catalogue> {
  const [loaded] = await findRows(sql, ReferenceCatalogue, (query) => query.where({ kind }));
  if (!loaded) return bundledCatalogue(kind);
  const { catalogue_version, source, nodes, loaded_at } = loaded;
  return { kind, version: catalogue_version, generatedAt: new Date(loaded_at).toISOString(), source, nodes };
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
export async function readCatalogue(ctx: Ctx, kind: CatalogueKind, locale: string = FALLBACK_LANGUAGE) {
  requirePermission(ctx.caller, 'inventory.view');
  const catalogue = await catalogueOf(ctx.db, kind);
  const existing = await existingCards(ctx.db, ctx, catalogue, true);
  return {
    version: {
      catalogue_version: catalogue.version,
      schema_version: '1',
      generated_at: catalogue.generatedAt,
      node_count: catalogue.nodes.length,
      ...countsOf(kind, catalogue.nodes),
      source: catalogue.source,
      bundled_version: BUNDLED_VERSION,
    },
    nodes: catalogue.nodes.map(({ id, level, parent_id, names, descriptions, industry }) => ({
      id,
      name: localised(names, locale)!,
      level,
      parent_id,
      description: localised(descriptions, locale) ?? null,
      industry,
      existing_card_id: existing.get(id) ?? null,
    })),
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
  catalogue_version: string;
  source?: string;
  /** One of these two. */
  nodes?: GivenNode[];
  csv?: string;
}

/**
 * Replaces the catalogue of a kind. Cards that were created from the former one remain.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function loadCatalogue(
  ctx: Ctx,
  kind: CatalogueKind,
  { catalogue_version, source = 'loaded', nodes, csv }: CatalogueDocument,
) {
  requirePermission(ctx.caller, 'admin.metamodel');
  if ((nodes === undefined) === (csv === undefined)) {
    throw invalidField('nodes', 'required', 'must be given, or csv instead of it');
  }
  const field = nodes ? 'nodes' : 'csv';
  const given = nodes ?? nodesOfCsv(csv!, catalogueKinds[kind].type);
  if (given.length === 0 || given.length > MAX_NODES) {
    throw invalidField(field, 'out_of_range', `must hold 1 to ${MAX_NODES} entries`);
  }
  const read = readNodes(given, field);
  if ('code' in read[0]!) throw invalidFields(read as FieldError[]);
  return await command(ctx, async (work) => {
    await query(work.sql).run`insert into reference_catalogues (kind, catalogue_version, source, nodes)
      values (${kind}, ${catalogue_version}, ${source}, ${JSON.stringify(read as CatalogueNode[])}::jsonb)
       on conflict (kind) do update set catalogue_version = excluded.catalogue_version,
       source = excluded.source,
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
 * cards are skipped, so that a repeated import creates nothing. All or nothing.
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
    const total = levels.flat().length;
    const ids = [...new Set(catalogue_ids)].map((id) => cards.get(id)!);
    return { created, skipped: total - created, ids };
  });
}
