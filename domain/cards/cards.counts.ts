import type { Ctx } from '../context.ts';
import { visibleCards } from './cards.visible.ts';

export interface CardCounts {
  by_type: { type: string; count: number }[];
  total: number;
}

/** The number of active cards by type, for every visible type in the metamodel's order. */
export async function countCards(ctx: Ctx): Promise<CardCounts> {
  const visible = visibleCards(ctx);
  const { rows } = await ctx.db.raw(
    `select c.type, count(*) as count from cards c where c.status = 'ACTIVE' and (${visible.sql}) group by c.type`,
    visible.bindings as never,
  );
  const counts = new Map<string, number>(
    rows.map((row: { type: string; count: number }) => [row.type, row.count]),
  );
  const byType = ctx.metamodel.visibleTypes.map((type) => ({ type, count: counts.get(type) ?? 0 }));
  return { by_type: byType, total: byType.reduce((sum, { count }) => sum + count, 0) };
}
