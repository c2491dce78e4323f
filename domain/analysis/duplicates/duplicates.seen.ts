import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';

/** The cards of an array column that are still there and that the caller sees, as SQL behind `from`. */
export function seenCards(ctx: Ctx, ids: string): Condition {
  const visible = visibleCards(ctx);
  return {
    sql: `cards c where c.id = any(${ids}) and c.status = 'ACTIVE' and ${visible.sql}`,
    bindings: visible.bindings,
    visibility: true,
  };
}

/** A cluster is there for who sees at least two of its cards. */
export function seenClusters(ctx: Ctx): Condition {
  const seen = seenCards(ctx, 'd.card_ids');
  return { ...seen, sql: `(select count(*) from ${seen.sql}) >= 2` };
}

/** A cluster with its cards that the caller sees, the one first that is best known. */
export interface SeenCluster {
  id: string;
  card_type: string;
  status: string;
  /** In the order in which they would survive a merge. */
  cards: string[];
}

/**
 * The order in which cards are recommended as survivors: approved, well described, with many relations, old ones first.
 * SQL over `c`.
 */
export const survivorOrder = `c.approval_status = 'APPROVED' desc, c.data_quality desc,
  (select count(*) from relations r where r.source_id = c.id or r.target_id = c.id) desc, c.created_at, c.id`;

/** A cluster for who sees at least two of its cards. @throws EstateError `not_found`. */
export async function seenCluster(sql: Sql, ctx: Ctx, id: string): Promise<SeenCluster> {
  const seen = seenCards(ctx, 'd.card_ids');
  const { rows } = await sql.raw(
    `select d.id, d.card_type, d.status,
       array(select c.id::text from ${seen.sql} order by ${survivorOrder}) as cards
     from duplicate_clusters d where d.id = ?`,
    [...seen.bindings, id] as never,
  );
  if (!rows[0] || rows[0].cards.length < 2) throw notFound('cluster', id);
  return rows[0];
}
