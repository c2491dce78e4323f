import type { Ctx } from '../domain/context.ts';
import type { Fragment } from '../domain/lists/lists.types.ts';

/**
 * Pairs `(card_id, other_id)` of the cards of one type and those of another that relations of visible types join, in
 * either direction, as the text of a subquery; a pair may come more than once.
 */
export function relatedPairs(ctx: Ctx, type: string, other: string): Fragment {
  const types = ctx.metamodel.visibleRelationTypes.map((key) => ctx.metamodel.relationTypes.get(key)!);
  const between = (source: string, target: string) =>
    types
      .filter(
        ({ source_type_key, target_type_key }) => source_type_key === source && target_type_key === target,
      )
      .map(({ key }) => key);
  return {
    sql: `select r.source_id as card_id, r.target_id as other_id from relations r where r.type = any(?::text[])
      union all
      select r.target_id, r.source_id from relations r where r.type = any(?::text[])`,
    bindings: [between(type, other), between(other, type)],
  };
}
