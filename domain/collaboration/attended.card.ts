import type { Knex } from 'knex';
import type { Sql } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { unseenCard, visibleCards } from '../inventory/cards/cards.visible.ts';
import type { Ctx } from '../kernel/context.ts';
import type { CardForPolicy } from '../kernel/permissions/policy.ts';

/** A card as far as attaching something to it goes. */
export interface AttendedCard extends CardForPolicy {
  name: string;
  /** Whether the caller sees it. */
  seen: boolean;
}

/**
 * The card to which something is to be attached, held so that it is not deleted before the transaction ends. The
 * caller's right to do so is still to be asked.
 * @throws EstateError `not_found`, also for a card of a hidden type.
 */
export async function holdCard(sql: Knex.Transaction, ctx: Ctx, id: string): Promise<AttendedCard> {
  const card = await findCard(sql, ctx, id, true);
  if (!card || ctx.metamodel.cardTypes.get(card.type)?.is_hidden) throw notFound('card', id);
  return card;
}

/** A card that the caller sees. @throws EstateError `not_found`, `forbidden` as reads of the card do. */
export async function requireSeenCard(sql: Sql, ctx: Ctx, id: string): Promise<AttendedCard> {
  const card = await findCard(sql, ctx, id, false);
  if (!card?.seen) throw unseenCard(ctx, notFound('card', id));
  return card;
}

/** A card, seen by the caller or not; `held` so that it is not deleted before the transaction ends. */
export async function findCard(
  sql: Sql,
  ctx: Ctx,
  id: string,
  held: boolean,
): Promise<AttendedCard | undefined> {
  const visible = visibleCards(ctx);
  const { rows } = await sql.raw(
    `select c.id, c.type, c.name, (${visible.sql}) as seen,
       array(select s.role from stakeholders s where s.card_id = c.id and s.user_id = ?::uuid) as "myRoles"
     from cards c where c.id = ?::uuid ${held ? 'for key share of c' : ''}`,
    [...visible.bindings, ctx.caller.userId, id] as never,
  );
  return rows[0];
}
