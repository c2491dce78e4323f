import { type LinkColumn, type LinkTargets, linkKinds } from './bpm.types.ts';

/** A card to which elements of a process are linked, and in which way. */
export interface LinkedCard {
  column: LinkColumn;
  card_id: string;
}

export const pairKey = ({ column, card_id }: LinkedCard): string => `${column} ${card_id}`;

/** The cards to which any of the links leads, each with the first element, by its id, that leads to it. */
export function linkedCards(
  links: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
): Map<string, LinkedCard & { first: string }> {
  const cards = new Map<string, LinkedCard & { first: string }>();
  for (const element of [...links.keys()].sort()) {
    for (const { column } of linkKinds) {
      const card_id = links.get(element)![column];
      if (card_id === null) continue;
      const card = { column, card_id, first: element };
      if (!cards.has(pairKey(card))) cards.set(pairKey(card), card);
    }
  }
  return cards;
}

/** A relation that came with a link. */
export interface MadeRelation extends LinkedCard {
  id: string;
  /** Nobody has written attributes or a description on it. */
  is_untouched: boolean;
}

export interface RelationPlan {
  /** Cards to which no link led before: relations to them are made where there are none. */
  wanted: LinkedCard[];
  /** Relations that came with links of which none is left. */
  removed: MadeRelation[];
  /** Relations that stay and still follow links, by the element that keeps them in mind. */
  kept: Map<string, string[]>;
}

/**
 * What becomes of relations when links change. The first link to a card makes the relation; the last that goes takes it
 * back, but only one that came with a link, and not where somebody has written on it meanwhile. A relation that somebody
 * has deleted is not made again by links that stay.
 */
export function planRelations(
  before: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  after: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  made: readonly MadeRelation[],
): RelationPlan {
  const had = linkedCards(before);
  const has = linkedCards(after);
  const kept = new Map<string, string[]>();
  for (const relation of made) {
    const first = has.get(pairKey(relation))?.first;
    if (first !== undefined) kept.set(first, [...(kept.get(first) ?? []), relation.id]);
  }
  return {
    wanted: [...has.values()].filter((card) => !had.has(pairKey(card))),
    removed: made.filter((relation) => relation.is_untouched && !has.has(pairKey(relation))),
    kept,
  };
}
