import { EstateError, notFound } from '../../../platform/errors.ts';
import { loadCards, lockCards, requireCard } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { type CardRight, requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRecord, recordText } from '../signatures/signatures.records.ts';
import { adrKind } from './adr.kind.ts';
import { type AdrCardRow, adrCardEvent } from './adr.links.events.ts';
import { type AdrRow, MAX_LINKS, referenceNumber } from './adr.types.ts';

const LINK: CardRight = { app: 'adr.manage', card: 'card.manage_adr_links' };

/**
 * Links a decision, in whatever state, to a card: what cards it is about is no part of what is signed.
 * @throws EstateError `forbidden`, `not_found`, `duplicate_link`, `conflict` for too many.
 */
export async function linkAdrCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.view);
  return await command(ctx, async (work) => {
    // cards before what hangs on them, as everywhere
    await lockCards(work, [cardId], 'share');
    const adr = await lockRecord(work, ctx, adrKind, id);
    const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
    requireOnCard(ctx, LINK, card);
    const linked: string[] = await work.sql('adr_cards').where({ adr_id: adr.id }).pluck('card_id');
    if (linked.includes(card.id)) {
      throw new EstateError(
        'duplicate_link',
        `${referenceNumber(adr.number)} is linked to this card already.`,
      );
    }
    if (linked.length >= MAX_LINKS) {
      throw new EstateError('conflict', `A decision is linked to at most ${MAX_LINKS} cards.`);
    }
    await insertLinks(work, ctx, adr, [card]);
    return await recordText(work.sql, ctx, adrKind, adr.id);
  });
}

/** Removes a link. @throws EstateError `forbidden`, `not_found`. */
export async function unlinkAdrCard(ctx: Ctx, id: string, cardId: string): Promise<void> {
  requirePermission(ctx.caller, adrKind.rights.view);
  await command(ctx, async (work) => {
    await lockCards(work, [cardId], 'share');
    const adr = await lockRecord(work, ctx, adrKind, id);
    const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
    requireOnCard(ctx, LINK, card);
    const { rows } = await work.sql.raw(
      'delete from adr_cards t where adr_id = ?::uuid and card_id = ?::uuid returning to_jsonb(t) as row',
      [adr.id, card.id],
    );
    if (!rows[0]) throw notFound('link to the card', cardId);
    work.emit(adrCardEvent(card, adr, rows[0].row, null));
  });
}

/** Links a decision to cards that it is not linked to yet, each with its event. The cards must be held. */
export async function insertLinks(
  work: Work,
  ctx: Ctx,
  adr: AdrRow,
  cards: readonly { id: string; type: string }[],
): Promise<void> {
  const { rows } = await work.sql.raw(
    `insert into adr_cards as t (adr_id, card_id, created_by)
     select ?::uuid, unnest(?::uuid[]), ?::uuid returning to_jsonb(t) as row`,
    [adr.id, cards.map((card) => card.id), ctx.caller.userId] as never,
  );
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const { row } of rows as { row: AdrCardRow }[]) {
    work.emit(adrCardEvent(byId.get(row.card_id)!, adr, null, row));
  }
}

/** Links a decision to the cards of another. */
export async function copyLinks(work: Work, ctx: Ctx, from: AdrRow, to: AdrRow): Promise<void> {
  const { rows } = await work.sql.raw(
    `select c.id, c.type from adr_cards k join cards c on c.id = k.card_id
     where k.adr_id = ?::uuid order by c.id for key share of c`,
    [from.id],
  );
  if (rows.length > 0) await insertLinks(work, ctx, to, rows);
}

/** Removes the links of a decision that is deleted. */
export async function removeLinks(work: Work, adr: AdrRow): Promise<void> {
  const { rows } = await work.sql.raw(
    `with gone as (delete from adr_cards t where adr_id = ?::uuid returning t.card_id, to_jsonb(t) as row)
     select g.row, c.id, c.type from gone g join cards c on c.id = g.card_id order by c.id`,
    [adr.id],
  );
  for (const { row, id, type } of rows) work.emit(adrCardEvent({ id, type }, adr, row, null));
}
