import type { Knex } from 'knex';
import { embed, query, type Sql } from '../../platform/database.ts';
import { EstateError, notFound } from '../../platform/errors.ts';
import { invisibleCardError, visibleCards } from '../inventory/cards/cards.projection.ts';
import type { Ctx } from '../kernel/context.ts';
import type { CardForPolicy } from '../kernel/permissions/policy.ts';
import { lockRow, type RowModel, type RowOf } from '../kernel/resources/rows.ts';

/** A card with the data that decides whether a row can be attached to it. */
export interface CardWithAccess extends CardForPolicy {
  name: string;
  isVisible: boolean;
}

/**
 * The card to which something is to be attached, locked against deletion. The caller checks the right to attach.
 * @throws EstateError `not_found`, also for a card of a hidden type.
 */
export async function lockCard(sql: Knex.Transaction, ctx: Ctx, id: string): Promise<CardWithAccess> {
  const card = await findCard(sql, ctx, id, { lock: true });
  if (!card || ctx.metamodel.cardTypes.get(card.type)?.is_hidden) throw notFound('card', id);
  return card;
}

/**
 * The card of a stored object, locked like {@link lockCard}.
 * @param name what messages call the object.
 * @throws EstateError `not_found` naming the object, also where its card is of a hidden type.
 */
export async function lockCardOf(
  sql: Knex.Transaction,
  ctx: Ctx,
  name: string,
  object: { id: string; card_id: string },
): Promise<CardWithAccess> {
  try {
    return await lockCard(sql, ctx, object.card_id);
  } catch (error) {
    throw error instanceof EstateError ? notFound(name, object.id) : error;
  }
}

/**
 * A row that is attached to a card, and the card, both locked: the card first, as its deletion does.
 * @param name what messages call the row.
 * @throws EstateError `not_found` naming the row.
 */
export async function lockAttached<M extends RowModel>(
  sql: Knex.Transaction,
  ctx: Ctx,
  model: M,
  name: string,
  id: string,
): Promise<{ card: CardWithAccess; row: RowOf<M> }> {
  const known = await sql(model.tableName).where({ id }).first('id', 'card_id');
  if (!known) throw notFound(name, id);
  const card = await lockCardOf(sql, ctx, name, known);
  const row = await lockRow(sql, model, { id: known.id } as unknown as Partial<RowOf<M>>);
  if (!row) throw notFound(name, id);
  return { card, row };
}

/** A card that is visible to the caller. @throws EstateError `not_found`, `forbidden` as reads of the card do. */
export async function requireVisibleCard(sql: Sql, ctx: Ctx, id: string): Promise<CardWithAccess> {
  const card = await findCard(sql, ctx, id);
  if (!card?.isVisible) throw invisibleCardError(ctx, notFound('card', id));
  return card;
}

/** A card, visible to the caller or not. @param lock prevents its deletion until the transaction ends. */
export async function findCard(
  sql: Sql,
  ctx: Ctx,
  id: string,
  { lock = false } = {},
): Promise<CardWithAccess | undefined> {
  const visible = visibleCards(ctx);
  return await query(sql).row<CardWithAccess>`select c.id, c.type, c.name,
    (${embed(visible)}) as "isVisible",
       array(select s.role from stakeholders s
       where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid) as "myRoles"
     from cards c where c.id = ${id}::uuid ${embed(lock ? 'for key share of c' : '')}`;
}
