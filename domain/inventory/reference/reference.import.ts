import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { createCardsWithin } from '../cards/bulk/bulk.create.ts';
import { localised, withAncestors } from './reference.rules.ts';
import { catalogueOf, standingCards } from './reference.store.ts';
import { type CatalogueKind, catalogueKinds, FALLBACK_LANGUAGE } from './reference.types.ts';

export interface CatalogueImport {
  catalogue_ids: string[];
  locale?: string | null;
}

export interface ImportedNodes {
  created: number;
  /** Nodes for which there are cards already. */
  skipped: number;
  /** The cards of the chosen nodes, made now or before, in the order in which they were chosen. */
  ids: string[];
}

/**
 * Makes cards of chosen nodes and of those above them, with the node's id as external id; nodes for which there are cards
 * are left alone, so that the same import twice makes nothing the second time. All of it or nothing.
 * @throws EstateError `forbidden`, `validation_failed` naming unknown ids, `conflict` where a card cannot be made.
 */
export async function importNodes(
  ctx: Ctx,
  kind: CatalogueKind,
  { catalogue_ids, locale }: CatalogueImport,
): Promise<ImportedNodes> {
  requirePermission(ctx.caller, 'inventory.create');
  return await command(ctx, async (work) => {
    // two that import the same wait for each other
    await work.sql.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`catalogue/${kind}`]);
    const catalogue = await catalogueOf(work.sql, kind);
    const { levels, unknown } = withAncestors(catalogue.nodes, catalogue_ids);
    if (unknown.length > 0) {
      const n = catalogue_ids.indexOf(unknown[0]!);
      throw invalidField(`catalogue_ids.${n}`, 'unknown_value', 'is no id of the catalogue');
    }
    const { type, subtypes } = catalogueKinds[kind];
    const cards = await standingCards(work.sql, ctx, { kind, nodes: levels.flat() }, false);
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
