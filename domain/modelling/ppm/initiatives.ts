import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { type CardWithAccess, findCard } from '../../collaboration/cards.access.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { invisibleCardError } from '../../inventory/cards/cards.visible.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { INITIATIVE } from './ppm.model.ts';

/** @throws EstateError `forbidden`. */
export function requirePpmReader(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ppm.view');
}

/** @throws EstateError `forbidden`. */
export function requirePpmWriter(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ppm.manage');
}

/** An initiative that the caller sees. @throws EstateError `not_found`, also for a card of another type; `forbidden`. */
export async function requireInitiative(sql: Sql, ctx: Ctx, id: string): Promise<CardWithAccess> {
  return visibleInitiative(ctx, id, await findCard(sql, ctx, id));
}

/**
 * The same, locked so that it is neither deleted nor merged before the transaction ends.
 * @param exclusive excludes other such writes, and allows to write the card itself.
 */
export async function lockInitiative(
  work: Work,
  ctx: Ctx,
  id: string,
  exclusive: boolean,
): Promise<CardWithAccess> {
  if (exclusive) await lockCards(work, [id]);
  return visibleInitiative(ctx, id, await findCard(work.sql, ctx, id, { lock: true }));
}

function visibleInitiative(ctx: Ctx, id: string, card: CardWithAccess | undefined): CardWithAccess {
  const none = notFound('initiative', id);
  if (!card?.isVisible) throw invisibleCardError(ctx, none);
  if (card.type !== INITIATIVE || ctx.metamodel.cardTypes.get(card.type)?.is_hidden) throw none;
  return card;
}
