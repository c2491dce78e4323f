import { embed, fragment, query, type Sql, type Transaction } from '../../platform/database.ts';
import { EstateError, type FieldError, notFound } from '../../platform/errors.ts';
import { lockCards } from '../inventory/cards/cards.load.ts';
import { invisibleCardError, visibleCards } from '../inventory/cards/cards.projection.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import type { EventDraft } from '../kernel/events/row-changes.ts';
import type { CardForPolicy } from '../kernel/permissions/policy.ts';
import { deleteRows, lockRow, type RowModel, type RowOf } from '../kernel/resources/rows.ts';

/** A card with the data that decides whether a row can be attached to it. */
export interface CardWithAccess extends CardForPolicy {
  name: string;
  isVisible: boolean;
}

/**
 * The card to which something is to be attached, locked against deletion. The caller checks the right to attach.
 * @throws EstateError `not_found`, also for a card of a hidden type.
 */
export async function lockCard(sql: Transaction, ctx: Ctx, id: string): Promise<CardWithAccess> {
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
  sql: Transaction,
  ctx: Ctx,
  name: string,
  object: { id: string; card_id: string },
): Promise<CardWithAccess> {
  return await asPartOf(name, object.id, lockCard(sql, ctx, object.card_id));
}

/** Awaits the card of an object; if the card is not found, neither is the object. @param name what messages call it. */
export async function asPartOf<T>(name: string, id: string, card: Promise<T>): Promise<T> {
  return await card.catch((error: unknown) => {
    throw error instanceof EstateError && error.code === 'not_found' ? notFound(name, id) : error;
  });
}

/**
 * A row that is attached to a card, and the card, both locked: the card first, as its deletion does.
 * @param name what messages call the row.
 * @throws EstateError `not_found` naming the row.
 */
export async function lockAttached<M extends RowModel>(
  sql: Transaction,
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

/** The conditions of a list of a visible card's objects, whose id is first in the path. @param column the card's id. */
export const ofVisibleCard = (column: string) => async (ctx: Ctx, _params: unknown, id?: string) => {
  const card = await requireVisibleCard(ctx.db, ctx, id!);
  return [fragment`${embed(column)} = ${card.id}::uuid`];
};

/** A card, visible to the caller or not. @param lock prevents its deletion until the transaction ends. */
export async function findCard(
  sql: Sql,
  ctx: Ctx,
  id: string,
  { lock = false } = {},
): Promise<CardWithAccess | undefined> {
  return await query(sql).row<CardWithAccess>`select c.id, c.type, c.name,
    (${embed(visibleCards(ctx))}) as "isVisible",
       array(select s.role from stakeholders s
       where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid) as "myRoles"
     from cards c where c.id = ${id}::uuid ${embed(lock ? 'for key share of c' : '')}`;
}

/** A card as events of its links contain it. */
export interface LinkedCard {
  id: string;
  type: string;
}

/**
 * Visible cards that are to be linked, each once, locked for sharing. Other cards are validation errors.
 * @param errors receives the errors, which name the items of `card_ids`.
 */
export async function lockLinkedCards(
  work: Work,
  ctx: Ctx,
  ids: readonly string[],
  errors: FieldError[],
): Promise<LinkedCard[]> {
  const wanted = ids.map((id) => id.toLowerCase());
  if (wanted.length === 0) return [];
  await lockCards(work, new Set(wanted), 'share');
  const cards = await query(work.sql).rows<LinkedCard>`select c.id, c.type from cards c
    where c.id = any(${wanted}::uuid[]) and (${embed(visibleCards(ctx))})`;
  const found = new Map(cards.map((card) => [card.id, card]));
  for (const [n, id] of wanted.entries()) {
    if (!found.has(id)) errors.push({ field: `card_ids.${n}`, code: 'unknown_card', message: 'is no card' });
  }
  return [...new Set(wanted)].flatMap((id) => found.get(id) ?? []);
}

/**
 * Deletes links of a row to cards, with an event in the history of each card.
 * @param where columns of the links with their values; lists of several.
 * @returns how many links there were.
 */
export async function deleteLinks<Row extends { id: string; card_id: string }>(
  work: Work,
  model: RowModel,
  where: { [column in keyof Row]?: Row[column] | Row[column][] },
  event: (card: LinkedCard, row: Row) => EventDraft,
): Promise<number> {
  const deleted = await deleteRows(work.sql, model, (query) => {
    for (const [column, value] of Object.entries(where)) query.whereIn(column, [value].flat());
  });
  const rows = deleted as object[] as Row[];
  const ids = rows.map((row) => row.card_id);
  const cards: LinkedCard[] = await work.sql('cards').whereIn('id', ids).select('id', 'type');
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const row of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    work.emit(event(byId.get(row.card_id)!, row));
  }
  return rows.length;
}
