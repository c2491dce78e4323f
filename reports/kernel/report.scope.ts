import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { may } from '../../domain/kernel/permissions/policy.ts';
import { Flag } from '../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';
import type { RelatedPairs } from './report.ends.ts';

/** The parameter of reports that can count relations of descendants. */
export const rollUpParam = Flag('Whether cards below count for the cards above them, each once');

/** Conditions over the alias `c`. */
interface Scope {
  /** The name of its card. */
  name: string;
  /** The cards below the scope's card and this card itself, and the cards that are related to one of them. */
  cards: Fragment;
  /** Of the scope's type only the cards in it; of other types all. */
  visible: Fragment;
}

/**
 * The conditions of the subtree of a card.
 * @param active the condition of the visible cards. @param id of the card at the top.
 * @throws EstateError 422 for a card that the caller cannot see.
 */
export async function scopeOf(ctx: Ctx, active: Fragment, id: string): Promise<Scope> {
  const [top] = await query(ctx.db).rows<{
    type: string;
    name: string;
  }>`select c.type, c.name from cards c where c.id = ${id}::uuid and ${embed(active)}`;
  if (!top) throw invalidField('scope', 'unknown_value', 'is not the id of an active card that you can see');
  const below = fragment`(with recursive below (id) as (
    select ${id}::uuid union all select k.id from cards k join below b on k.parent_id = b.id) select id from below)`;
  const types = may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : [];
  return {
    name: top.name,
    cards: fragment`(c.id in ${embed(below)} or c.type <> ${top.type} and c.id in (
      select r.target_id from relations r where r.source_id in ${embed(below)} and r.type = any(${types}::text[])
      union all
      select r.source_id from relations r where r.target_id in ${embed(below)} and r.type = any(${types}::text[])))`,
    visible: fragment`(c.type <> ${top.type} or c.id in ${embed(below)})`,
  };
}

/**
 * Pairs in which a card also counts for the cards above it.
 * @param side the column of these cards. @param cards their condition over the alias `c`, which those above must meet too.
 */
export function rolledUp(pairs: RelatedPairs, side: 'card_id' | 'other_id', cards: Fragment): RelatedPairs {
  const other = side === 'card_id' ? 'other_id' : 'card_id';
  const { more = [] } = pairs;
  return {
    ...fragment`select u.counts_for as ${embed(side)}, ${embed([other, ...more].map((column) => `p.${column}`).join(', '))} from (${embed(pairs)}) p join (
      with recursive own as (select c.id, c.parent_id from cards c where ${embed(cards)}),
        up (id, counts_for) as (
          select id, id from own
          union all
          select u.id, k.parent_id from up u join own k on k.id = u.counts_for
          where k.parent_id in (select id from own))
      select id, counts_for from up) u on u.id = p.${embed(side)}`,
    once: 'distinct',
    more,
  };
}
