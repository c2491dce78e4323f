import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { embed, fragment, joinFragments, query, type Sql } from '../../platform/database.ts';

/** A subquery that returns pairs of cards. */
export interface RelatedPairs extends Fragment {
  /** `distinct` if pairs can be duplicated, else empty. */
  once: 'distinct' | '';
  /** Further columns of the pairs. */
  more?: readonly string[];
}

/** The visible relation types from one card type to another. */
export const typesBetween = ({ metamodel }: Ctx, source: string, target: string) =>
  metamodel.visibleRelationTypes
    .map((key) => metamodel.relationTypes.get(key)!)
    .filter((type) => type.source_type_key === source && type.target_type_key === target);

/**
 * Pairs `(card_id, other_id)` of cards of two types that are related by visible relation types, in either direction.
 */
export function relatedPairs(ctx: Ctx, type: string, other: string): RelatedPairs {
  const between = (source: string, target: string) => typesBetween(ctx, source, target).map(({ key }) => key);
  const halves = [
    { ends: 'r.source_id as card_id, r.target_id as other_id', keys: between(type, other) },
    { ends: 'r.target_id as card_id, r.source_id as other_id', keys: between(other, type) },
  ];
  const used = halves.filter(({ keys }) => keys.length > 0);
  const read = used.length > 0 ? used : halves.slice(0, 1);
  return {
    ...joinFragments(
      read.map(
        ({ ends, keys }) =>
          fragment`select ${embed(ends)} from relations r where r.type = any(${keys}::text[])`,
      ),
      ' union all ',
    ),
    // two cards have at most one relation of a type and direction
    once: used.flatMap(({ keys }) => keys).length > 1 ? 'distinct' : '',
  };
}

/**
 * The card type that a report relates to another if the request names none: the usual one if there are such relations, else
 * the one with the most.
 * @param cards condition of the cards of `type` over the alias `c`. @param others that of the related ones.
 */
export async function chooseRelatedType(
  { sql, ctx, cards, others }: { sql: Sql; ctx: Ctx; cards: Fragment; others: Fragment },
  type: string,
  usual: string,
): Promise<string> {
  const pairs = relatedPairs(ctx, type, usual);
  const isRelated = await query(sql).value<boolean>`select exists (select from (${embed(pairs)}) p
    where p.card_id in (select c.id from cards c where c.type = ${type} and ${embed(cards)})
      and p.other_id in (select c.id from cards c where c.type = ${usual} and ${embed(others)}))`;
  if (isRelated) return usual;
  const ends = ctx.metamodel.visibleRelationTypes.flatMap((key) => {
    const { source_type_key: source, target_type_key: target } = ctx.metamodel.relationTypes.get(key)!;
    const other = source === type ? target : target === type ? source : undefined;
    return other === undefined || other === type ? [] : [[key, other] as const];
  });
  const counts = await query(sql).value<Record<string, number>>`
    select coalesce(json_object_agg(n.type, n.count), '{}') from (
      select r.type, count(*) from relations r where r.type = any(${ends.map(([key]) => key)}::text[]) group by r.type) n`;
  const totals = new Map<string, number>();
  for (const [key, other] of ends) totals.set(other, (totals.get(other) ?? 0) + (counts[key] ?? 0));
  const [most] = [...totals].sort(([, a], [, b]) => b - a);
  return most && most[1] > 0 ? most[0] : usual;
}
