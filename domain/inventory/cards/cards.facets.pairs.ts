import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { visibleCards } from './cards.projection.ts';

/** The number of cards (`number`) by value (`value`) from pairs of both; NULL are the cards without a pair. */
export const pairedQuery = (pairs: Fragment, cards: Fragment): Fragment =>
  fragment`with pairs as materialized (${embed(pairs)})
    select p.value, count(*) as number from pairs p group by p.value
    union all
    select null, (select count(*) from ${embed(cards)} n) - (select count(*) from (select id from pairs group by id) d)`;

/** The cards by tag; NULL are those without any. */
export const tagQuery = (cards: Fragment): Fragment =>
  fragment`select ct.tag_id as value, count(*) as number from ${embed(cards)} b
    left join card_tags ct on ct.card_id = b.id group by 1`;

/** The cards with each person who has a role on them. */
export const peoplePairs = (cards: Fragment): Fragment =>
  fragment`select distinct b.id, s.user_id as value from ${embed(cards)} b
    join stakeholders s on s.card_id = b.id`;

/** Whether a relation type has different types at its ends, so that each card is at one end only. */
export function hasTwoTypes(ctx: Ctx, type: string): boolean {
  const { source_type_key: source, target_type_key: target } = ctx.metamodel.relationTypes.get(type)!;
  return source !== target && may(ctx.caller, 'inventory.view');
}

/**
 * {@link pairedQuery} of relations for all active cards, or all of some types: the few archived ones are looked up instead of
 * the many others, and the relations of an index are counted in its order.
 */
export function wholeRelationQuery(
  ctx: Ctx,
  type: string,
  cards: Fragment,
  types: string[] | undefined,
): Fragment {
  const relation = ctx.metamodel.relationTypes.get(type)!;
  const isAsked = (end: 'source' | 'target') =>
    types === undefined || types.includes(relation[`${end}_type_key`]);
  const counted = (end: 'source' | 'target', other: 'source' | 'target') =>
    fragment`select r.${embed(end)}_id as id, ${embed(String(isAsked(end)))} as asked,
        ${embed(isAsked(other) ? 'count(*) filter (where a.id is null)' : '0')} as number
      from relations r ${embed(isAsked(other) ? `left join archived a on a.id = r.${other}_id` : '')}
      where r.type = ${type} group by 1`;
  return fragment`with archived as materialized (select id from cards where status = 'ARCHIVED'),
      ends as materialized (${embed(counted('source', 'target'))} union all ${embed(counted('target', 'source'))})
    select id as value, number from ends where number > 0
    union all
    select null, (select count(*) from ${embed(cards)} n) - (select count(*) from ends where asked)
      + (select count(*) from archived a join ends e on e.id = a.id where e.asked)`;
}

/** The cards with the visible cards to which they have a relation of the type. */
export function relatedPairs(ctx: Ctx, type: string, cards: Fragment, types: string[] | undefined): Fragment {
  const { source_type_key: source, target_type_key: target } = ctx.metamodel.relationTypes.get(type)!;
  const end = (self: string, other: string) =>
    fragment`select b.id, r.${embed(other)}_id as value from ${embed(cards)} b
      join relations r on r.${embed(self)}_id = b.id and r.type = ${type}`;
  const ends = [
    ...(types === undefined || types.includes(source) ? [end('source', 'target')] : []),
    ...(types === undefined || types.includes(target) ? [end('target', 'source')] : []),
  ];
  // two cards can be related in both directions if their types are the same
  const pairs =
    ends.length === 0
      ? fragment`select null::uuid as id, null::uuid as value where false`
      : joinFragments(ends, source === target ? ' union ' : ' union all ');
  const visible = visibleCards(ctx);
  return visible.sql === 'true'
    ? pairs
    : fragment`select p.id, p.value from (${embed(pairs)}) p join cards c on c.id = p.value and (${embed(visible)})`;
}
