import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';

/** Pairs of cards, as the text of a subquery. */
export interface RelatedPairs extends Fragment {
  /** What SELECT needs to read each pair once: `distinct` where one may come several times, else nothing. */
  once: 'distinct' | '';
}

/**
 * Pairs `(card_id, other_id)` of the cards of one type and those of another that relations of visible types join, in
 * either direction.
 */
export function relatedPairs(ctx: Ctx, type: string, other: string): RelatedPairs {
  const types = ctx.metamodel.visibleRelationTypes.map((key) => ctx.metamodel.relationTypes.get(key)!);
  const between = (source: string, target: string) =>
    types
      .filter(
        ({ source_type_key, target_type_key }) => source_type_key === source && target_type_key === target,
      )
      .map(({ key }) => key);
  const halves = [
    { ends: 'r.source_id as card_id, r.target_id as other_id', keys: between(type, other) },
    { ends: 'r.target_id as card_id, r.source_id as other_id', keys: between(other, type) },
  ];
  const used = halves.filter(({ keys }) => keys.length > 0);
  const read = used.length > 0 ? used : halves.slice(0, 1);
  return {
    sql: read
      .map(({ ends }) => `select ${ends} from relations r where r.type = any(?::text[])`)
      .join(' union all '),
    bindings: read.map(({ keys }) => keys),
    // two cards have one relation of a type and direction at most
    once: used.flatMap(({ keys }) => keys).length > 1 ? 'distinct' : '',
  };
}
