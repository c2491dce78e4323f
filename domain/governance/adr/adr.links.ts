import { query } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { loadCards, lockCards, requireCard } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { type CardRight, requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { lockRecord, recordText } from '../signatures/signatures.records.ts';
import { AdrCard, type AdrCardRow, type AdrRow, adrKind, MAX_LINKS, referenceNumber } from './adr.kind.ts';

const LINK: CardRight = { app: 'adr.manage', card: 'card.manage_adr_links' };

/**
 * Links a decision, in any state, to a card: links are not signed.
 * @throws EstateError `forbidden`, `not_found`, `duplicate_link`, `conflict` for too many.
 */
export async function linkAdrCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.view);
  return await command(ctx, async (work) => {
    // cards are locked before the rows that refer to them, to avoid deadlocks
    await lockCards(work, [cardId], 'share');
    const adr = await lockRecord(work, ctx, adrKind, id);
    const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
    requireOnCard(ctx, LINK, card);
    const linked: string[] = await work.sql('adr_cards').where({ adr_id: adr.id }).pluck('card_id');
    if (linked.includes(card.id)) {
      throw new EstateError(
        'duplicate_link',
        `${referenceNumber(adr.number)} is already linked to this card.`,
      );
    }
    if (linked.length >= MAX_LINKS) {
      throw new EstateError('conflict', `A decision can be linked to at most ${MAX_LINKS} cards.`);
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
    const key = { adr_id: adr.id, card_id: card.id };
    const [deleted] = await deleteRows(work.sql, AdrCard, (query) => query.where(key));
    if (!deleted) throw notFound('link to the card', cardId);
    work.emit(adrCardEvent(card, adr, deleted, null));
  });
}

/** Links a decision to locked cards to which it is not linked yet. */
export async function insertLinks(
  work: Work,
  ctx: Ctx,
  adr: AdrRow,
  cards: readonly { id: string; type: string }[],
): Promise<void> {
  const links = await query(work.sql).column<AdrCardRow>`insert into adr_cards as t (adr_id, card_id,
    created_by)
     select ${adr.id}::uuid, unnest(${cards.map((card) => card.id)}::uuid[]), ${ctx.caller.userId}::uuid
     returning to_jsonb(t) as row`;
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const row of links) work.emit(adrCardEvent(byId.get(row.card_id)!, adr, null, row));
}

/** Links a decision to the cards of another. */
export async function copyLinks(work: Work, ctx: Ctx, from: AdrRow, to: AdrRow): Promise<void> {
  const cards = await query(work.sql).rows<{ id: string; type: string }>`select c.id, c.type from adr_cards k
    join cards c on c.id = k.card_id
     where k.adr_id = ${from.id}::uuid order by c.id for key share of c`;
  if (cards.length > 0) await insertLinks(work, ctx, to, cards);
}

/** Removes the links of a decision that is deleted. */
export async function removeLinks(work: Work, adr: AdrRow): Promise<void> {
  const links = await query(work.sql).rows<{
    row: AdrCardRow;
    id: string;
    type: string;
  }>`with gone as (delete from adr_cards t where adr_id = ${adr.id}::uuid returning t.card_id, to_jsonb(t) as row)
     select g.row, c.id, c.type from gone g join cards c on c.id = g.card_id order by c.id`;
  for (const { row, ...card } of links) work.emit(adrCardEvent(card, adr, row, null));
}

/** The event of a link that was added or removed, in the history of its card. */
export function adrCardEvent(
  card: { id: string; type: string },
  adr: { number: number; title: string } | null,
  before: AdrCardRow | null,
  after: AdrCardRow | null,
): EventDraft {
  const { id, adr_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'adr_card.created' : 'adr_card.deleted',
    card_id: card.id,
    card_type: card.type,
    data: {
      id,
      adr_id,
      ...(adr ? { reference_number: referenceNumber(adr.number), title: adr.title } : {}),
      changes: rowChanges(before, after),
    },
  };
}
