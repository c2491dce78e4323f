import { queryRows } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import { visibleCards } from './cards.visible.ts';

export interface CardCounts {
  by_type: { type: string; count: number }[];
  total: number;
}

const KEPT_BYTES = 2 * 1024 * 1024;

/** Keeps counts until cards change. */
export function createKeptCounts(): ResultCache<CardCounts> {
  return createResultCache(KEPT_BYTES, (counts) => 100 * counts.by_type.length);
}

/**
 * The number of active cards by type, for every visible type in the metamodel's order. `topics` are the versions
 * after the request arrived: counts are taken again only when cards of some type have changed.
 */
export async function countCards(
  ctx: Ctx,
  topics: ReadonlyMap<string, number>,
  kept: ResultCache<CardCounts>,
): Promise<CardCounts> {
  const visible = visibleCards(ctx);
  const types = ctx.metamodel.visibleTypes;
  const key = JSON.stringify([types.map((type) => [type, topics.get(`cards:${type}`) ?? 0]), visible]);
  return await kept.get(key, () => count(ctx, visible));
}

async function count(ctx: Ctx, visible: Condition): Promise<CardCounts> {
  const rows = await queryRows<{ type: string; count: number }>(
    ctx.db,
    `select c.type, count(*) as count from cards c where c.status = 'ACTIVE' and (${visible.sql}) group by c.type`,
    visible.bindings,
  );
  const counts = new Map(rows.map(({ type, count }) => [type, count]));
  const byType = ctx.metamodel.visibleTypes.map((type) => ({ type, count: counts.get(type) ?? 0 }));
  return { by_type: byType, total: byType.reduce((sum, { count }) => sum + count, 0) };
}
