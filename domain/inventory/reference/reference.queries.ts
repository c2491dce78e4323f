import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { BUNDLED_VERSION } from './reference.bundled.ts';
import { localised } from './reference.rules.ts';
import { catalogueOf, standingCards } from './reference.store.ts';
import { type CatalogueKind, type CatalogueNode, FALLBACK_LANGUAGE } from './reference.types.ts';

const MOST_WARNINGS = 100;

/** A node in one language, with the card that stands for it. */
interface ToldNode {
  id: string;
  name: string;
  level: number;
  parent_id: string | null;
  description: string | null;
  industry: string;
  existing_card_id: string | null;
}

export interface ToldCatalogue {
  version: {
    catalogue_version: string;
    schema_version: string;
    generated_at: string;
    node_count: number;
    /** The same under the name of the kind. */
    process_count?: number;
    value_stream_count?: number;
    /** Of capabilities: areas, the entries of the first level, and those that nothing lies below. */
    macro_count?: number;
    macro_warnings?: string[];
    source: string;
    bundled_version: string;
  };
  nodes: ToldNode[];
}

/** A catalogue in one language. @throws EstateError `forbidden`. */
export async function readCatalogue(
  ctx: Ctx,
  kind: CatalogueKind,
  locale: string = FALLBACK_LANGUAGE,
): Promise<ToldCatalogue> {
  requirePermission(ctx.caller, 'inventory.view');
  const catalogue = await catalogueOf(ctx.db, kind);
  const standing = await standingCards(ctx.db, ctx, catalogue, true);
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
      existing_card_id: standing.get(id) ?? null,
    })),
  };
}

function countsOf(
  kind: CatalogueKind,
  nodes: readonly CatalogueNode[],
): Pick<ToldCatalogue['version'], 'process_count' | 'value_stream_count' | 'macro_count' | 'macro_warnings'> {
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
