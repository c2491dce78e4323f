import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { embed, fragment, joinFragments } from '../../platform/database.ts';

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
