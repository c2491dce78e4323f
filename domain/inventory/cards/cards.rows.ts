import type { Transaction } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { updateRows } from '../../kernel/resources/rows.ts';
import type { StoredCard } from './cards.load.ts';
import { Card } from './cards.model.ts';
import { mergeAttributes } from './rules/merge.ts';
import { dataQuality, qualityFacts } from './rules/quality.ts';

/** The card with the data quality that results from its values, relations, tags and stakeholders. */
export function rescored(type: CardType, card: StoredCard): StoredCard {
  return { ...card, data_quality: dataQuality(type, card, qualityFacts(type, card.filled)) };
}

/** Writes the rows of changed cards in one statement. */
export async function writeCards(sql: Transaction, ctx: Ctx, cards: StoredCard[]): Promise<void> {
  const updated_by = ctx.caller.userId;
  // The number of a card never changes.
  const rows = cards.map(({ number: _, ...card }) => ({ ...card, updated_by }));
  await updateRows(sql, Card, rows);
}

/** A card or a relation, with its attributes that are sums. */
type Summed = Pick<StoredCard, 'attributes' | 'sums'>;

/**
 * The keys of the attributes of a card or a relation that are sums of its lines or costs: while there are any, neither
 * users nor formulas set them. Only cost fields can be sums.
 */
export function summedKeys(type: Pick<CardType, 'fields'>, { sums }: Pick<StoredCard, 'sums'>): string[] {
  return Object.keys(sums ?? {}).filter((key) => type.fields.get(key)?.type === 'cost');
}

/** The card or relation with its sums as attributes; they replace whatever was written to these attributes. */
export function withSums<T extends Summed>(type: Pick<CardType, 'fields'>, card: T): T {
  const keys = summedKeys(type, card);
  if (keys.length === 0) return card;
  const sums = Object.fromEntries(keys.map((key) => [key, card.sums![key]]));
  return { ...card, attributes: mergeAttributes(card.attributes, sums) };
}
