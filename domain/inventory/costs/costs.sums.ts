import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { loadCards, lockCards } from '../cards/cards.load.ts';
import { saveCards } from '../cards/cards.save.ts';
import { ANNUAL_COST } from '../cards/rules/values.ts';
import { findRelations } from '../relations/relations.load.ts';
import { type NamedEnd, saveRelations } from '../relations/relations.save.ts';

/** Sums that clear the attribute where there are no costs any more. */
const CLEARED = { [ANNUAL_COST]: null };

/**
 * Writes the annual costs of cards, null for cards without costs, and scores the cards again. Approvals remain, because
 * nobody has changed the cards' content. The cards must be locked.
 */
export async function refreshCardCosts(work: Work, ctx: Ctx, ids: Iterable<string>): Promise<void> {
  const cards = await loadCards(work, ctx, ids);
  const writes = [...cards.values()].map((before) => ({
    before,
    after: { ...before, sums: { ...CLEARED, ...before.sums } },
  }));
  await saveCards(work, ctx, writes);
}

/** The same for relations, whose ends must be locked. @param ends the cards at their ends. */
export async function refreshRelationCosts(
  work: Work,
  ctx: Ctx,
  ids: Iterable<string>,
  ends: ReadonlyMap<string, NamedEnd>,
): Promise<void> {
  const relations = await findRelations(work.sql, ids);
  const writes = relations.map((before) => ({
    before,
    after: { ...before, sums: { ...CLEARED, ...before.sums } },
  }));
  await saveRelations(work, ctx, writes, ends);
}

/** Locks the ends of relations, and returns these cards. */
export async function lockEnds(work: Work, relationIds: readonly string[]): Promise<Map<string, NamedEnd>> {
  const ids = await query(work.sql).column<string>`select distinct e.id from relations r
    cross join lateral (values (r.source_id), (r.target_id)) as e (id)
    where r.id = any(${relationIds}::uuid[])`;
  await lockCards(work, ids);
  const ends = await query(work.sql).rows<NamedEnd>`select id, name, type from cards
    where id = any(${ids}::uuid[])`;
  return new Map(ends.map((end) => [end.id, end]));
}
