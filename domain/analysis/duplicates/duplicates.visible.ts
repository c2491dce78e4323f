import { embed, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';

/** The visible active cards of an array column, as SQL after `from`. */
export function visibleCardsOf(ctx: Ctx, ids: string): Condition {
  const visible = visibleCards(ctx);
  const sql = `cards c where c.id = any(${ids}) and c.status = 'ACTIVE' and ${visible.sql}`;
  return { sql, bindings: visible.bindings, visibility: true };
}

/** The clusters with at least two visible cards. */
export function visibleClusters(ctx: Ctx): Condition {
  const cards = visibleCardsOf(ctx, 'd.card_ids');
  return { ...cards, sql: `(select count(*) from ${cards.sql}) >= 2` };
}

/** A cluster with its visible cards. */
interface VisibleCluster {
  id: string;
  card_type: string;
  status: string;
  /** In the order in which they are recommended as survivors. */
  cards: string[];
}

/**
 * The order in which cards are recommended as survivors: approved, complete, with many relations, old ones first.
 * SQL over `c`.
 */
export const survivorOrder = `c.approval_status = 'APPROVED' desc, c.data_quality desc,
  (select count(*) from relations r where r.source_id = c.id or r.target_id = c.id) desc, c.created_at, c.id`;

/** A cluster with at least two visible cards. @throws EstateError `not_found`. */
export async function requireCluster(sql: Sql, ctx: Ctx, id: string): Promise<VisibleCluster> {
  const cards = visibleCardsOf(ctx, 'd.card_ids');
  const [found] = await query(sql).rows<VisibleCluster>`select d.id, d.card_type, d.status,
       array(select c.id::text from ${embed(cards)} order by ${embed(survivorOrder)}) as cards
     from duplicate_clusters d where d.id = ${id}`;
  if (!found || found.cards.length < 2) throw notFound('cluster', id);
  return found;
}
