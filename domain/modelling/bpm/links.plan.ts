import type { LinkTargets } from './bpm.model.ts';
import { type LinkColumn, linkKinds } from './bpm.types.ts';

/** A card to which elements of a process are linked, with the kind of link. */
export interface LinkedCard {
  column: LinkColumn;
  card_id: string;
}

export const pairKey = ({ column, card_id }: LinkedCard): string => `${column} ${card_id}`;

/** The cards of links, each with the first element, by its id, that is linked to it. */
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

/** A relation that was created for a link. */
export interface LinkRelation extends LinkedCard {
  id: string;
  /** It has neither attributes nor a description. */
  is_untouched: boolean;
}

export interface RelationPlan {
  /** Newly linked cards; relations to them are created where there are none. */
  wanted: LinkedCard[];
  /** Relations that were created for links of which none is left. */
  removed: LinkRelation[];
  /** The ids of relations that stay, by the element whose link refers to them. */
  retained: Map<string, string[]>;
}

/**
 * Plans the relations after a change of links. The first link to a card creates the relation. Removing the last link
 * deletes it, but only if it was created for a link and nobody has changed it since. Unchanged links do not recreate a
 * relation that somebody has deleted.
 */
export function planRelations(
  before: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  after: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  relations: readonly LinkRelation[],
): RelationPlan {
  const cardsBefore = linkedCards(before);
  const cardsAfter = linkedCards(after);
  const retained = new Map<string, string[]>();
  for (const relation of relations) {
    const first = cardsAfter.get(pairKey(relation))?.first;
    if (first !== undefined) retained.set(first, [...(retained.get(first) ?? []), relation.id]);
  }
  return {
    wanted: [...cardsAfter.values()].filter((card) => !cardsBefore.has(pairKey(card))),
    removed: relations.filter((relation) => relation.is_untouched && !cardsAfter.has(pairKey(relation))),
    retained,
  };
}
