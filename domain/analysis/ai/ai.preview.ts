import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { type CardToTell, fieldsOf, type OutgoingCard, outgoingCard } from './ai.outgoing.ts';
import type { AiSettings } from './ai.provider.ts';

/**
 * The fields of a card that would be sent to a provider, and the filled ones that would not.
 * @throws EstateError `not_found` when the caller does not see the card.
 */
export async function previewOutgoing(
  ctx: Ctx,
  settings: AiSettings,
  id: string,
): Promise<{ card: OutgoingCard; withheld: string[] }> {
  const seen = visibleCards(ctx);
  const { rows } = await ctx.db.raw(
    `select c.id, c.type, c.name, c.alias, c.description, c.subtype, c.lifecycle, c.attributes
     from cards c where c.id = ?::uuid and ${seen.sql}`,
    [id, ...seen.bindings],
  );
  const stored: CardToTell | undefined = rows[0];
  if (!stored) throw notFound('card', id);
  const card = outgoingCard(ctx, settings, stored);
  const costKeys = ctx.metamodel.cardTypes.get(stored.type)?.costKeys ?? [];
  // without `costs.view` not even the existence of a cost is revealed
  const untold = new Set(may(ctx.caller, 'costs.view') ? [] : costKeys.map((key) => `attributes.${key}`));
  for (const field of fieldsOf(card)) untold.add(field);
  return { card, withheld: fieldsOf(stored).filter((field) => !untold.has(field)) };
}
