import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { StoredCard } from './cards.load.ts';
import { mergeAttributes } from './rules/merge.ts';

/**
 * The keys of a card's attributes that are sums of lines: neither people nor formulas set them while there are lines.
 * Only cost fields are, since the lines are costs.
 */
export function summedKeys(type: CardType, { sums }: Pick<StoredCard, 'sums'>): string[] {
  return Object.keys(sums ?? {}).filter((key) => type.fields.get(key)?.type === 'cost');
}

/** The card with its sums as attributes, whatever else was written to them. */
export function withSums(type: CardType, card: StoredCard): StoredCard {
  const keys = summedKeys(type, card);
  if (keys.length === 0) return card;
  const sums = Object.fromEntries(keys.map((key) => [key, card.sums![key]]));
  return { ...card, attributes: mergeAttributes(card.attributes, sums) };
}
