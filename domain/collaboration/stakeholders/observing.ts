import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { OBSERVER } from '../../kernel/permissions/policy.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Stakeholder } from '../collaboration.model.ts';
import type { WrittenItem } from '../items.ts';
import { assign, lockedCard, unassign } from './stakeholders.commands.ts';

export interface Observing {
  is_observer: boolean;
  /** Whether the card's type has the role. */
  observer_role_available: boolean;
}

/** Whether the caller follows a card as its observer. @throws EstateError `not_found`, `forbidden`. */
export async function readObserving(ctx: Ctx, cardId: string): Promise<Observing> {
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  return {
    is_observer: card.myRoles.includes(OBSERVER),
    observer_role_available: canObserve(ctx, card.type),
  };
}

/**
 * Follows a card that the caller sees.
 * @throws EstateError `not_found`, `forbidden`, `observer_role_unavailable`, `duplicate_stakeholder`.
 */
export async function observe(ctx: Ctx, cardId: string): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const visible = await requireVisibleCard(work.sql, ctx, cardId);
    if (!canObserve({ metamodel: work.metamodel }, visible.type)) {
      throw new EstateError(
        'observer_role_unavailable',
        `Cards of the type ${visible.type} have no observers.`,
      );
    }
    const card = await lockedCard(work, ctx, visible.id);
    const user = { id: ctx.caller.userId!, display_name: ctx.caller.displayName };
    return await assign(work, ctx, card, user, OBSERVER);
  });
}

/** Stops following a card; writes nothing where the caller does not follow it. @throws EstateError `not_found`, `forbidden`. */
export async function stopObserving(ctx: Ctx, cardId: string): Promise<void> {
  await command(ctx, async (work) => {
    const visible = await requireVisibleCard(work.sql, ctx, cardId);
    const card = await lockedCard(work, ctx, visible.id);
    const row = await lockRow(work.sql, Stakeholder, {
      card_id: card.id,
      user_id: ctx.caller.userId!,
      role: OBSERVER,
    });
    if (row) await unassign(work, ctx, card, ctx.caller.displayName, row);
  });
}

function canObserve({ metamodel }: Pick<Ctx, 'metamodel'>, type: string): boolean {
  return metamodel.cardTypes.get(type)?.stakeholderRoles.some(({ key }) => key === OBSERVER) ?? false;
}
