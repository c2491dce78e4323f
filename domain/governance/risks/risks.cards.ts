import { query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { deleteLinks, type LinkedCard, lockLinkedCards } from '../../collaboration/cards.access.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { riskText } from './risks.list.ts';
import { type CardRole, RISKS_TOPIC, RiskCard, type RiskCardRow, type RiskRow } from './risks.model.ts';
import { addLinks, type LoadedRisk, lockRisk, requireOpen, riskCardEvent } from './risks.store.ts';

/** The greatest number of cards of a risk. */
export const MAX_CARDS = 500;

/**
 * Links cards to a risk in one role; existing links get the role.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `wrong_state` for a closed
 * risk, `conflict` for too many cards.
 */
export async function linkCards(ctx: Ctx, id: string, cardIds: string[], role: CardRole): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await command(ctx, async (work) => {
    const errors: FieldError[] = [];
    // cards are locked before the rows that refer to them, to avoid deadlocks
    const cards = await lockLinkedCards(work, ctx, cardIds, errors);
    const risk = await lockOpen(work, ctx, id);
    if (errors.length > 0) throw invalidFields(errors);
    const linked = new Set(risk.cardIds);
    const fresh = cards.filter(({ id: card }) => !linked.has(card));
    if (linked.size + fresh.length > MAX_CARDS) {
      throw new EstateError('conflict', `A risk is linked to ${MAX_CARDS} cards at most.`);
    }
    const changing = cards.filter(({ id: card }) => linked.has(card));
    await changeRole(work, risk.row, changing, role);
    const links = fresh.map((card) => ({ risk: risk.row, card }));
    await addLinks(work, links, role);
    work.raise(RISKS_TOPIC);
    return await riskText(work.sql, ctx, risk.row.id);
  });
}

/**
 * Removes the link of a card to a risk.
 * @throws EstateError `forbidden`, `not_found`, also for a card that is not linked; `precondition_failed`, `wrong_state`.
 */
export async function unlinkCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await command(ctx, async (work) => {
    const [card] = await lockLinkedCards(work, ctx, [cardId], []);
    const { row } = await lockOpen(work, ctx, id);
    if (!card || (await removeLinks(work, row, card.id)) === 0) throw notFound('linked card', cardId);
    return await riskText(work.sql, ctx, row.id);
  });
}

/** Removes the link of a risk to a card, by default all its links. @returns how many there were. */
export async function removeLinks(work: Work, risk: RiskRow, card_id?: string): Promise<number> {
  work.raise(RISKS_TOPIC);
  const where = { risk_id: risk.id, ...(card_id !== undefined && { card_id }) };
  return await deleteLinks<RiskCardRow>(work, RiskCard, where, (card, row) =>
    riskCardEvent(card, risk, row, null),
  );
}

async function lockOpen(work: Work, ctx: Ctx, id: string): Promise<LoadedRisk> {
  const risk = await lockRisk(work, ctx, id);
  requireOpen(risk.row);
  return risk;
}

async function changeRole(
  work: Work,
  risk: RiskRow,
  cards: readonly LinkedCard[],
  role: CardRole,
): Promise<void> {
  const rows = await query(work.sql).rows`update risk_cards k set role = ${role}
    where k.risk_id = ${risk.id}::uuid and k.card_id = any(${cards.map(({ id }) => id)}::uuid[])
    and k.role <> ${role}
     returning to_jsonb(new) as after, to_jsonb(old) as before`;
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const { before, after } of rows as { before: RiskCardRow; after: RiskCardRow }[]) {
    work.emit(riskCardEvent(byId.get(after.card_id)!, risk, before, after));
  }
}

/** Removes the links of cards that are deleted. @param cards by id; they must be locked. */
export async function unlinkDeletedCards(work: Work, cards: ReadonlyMap<string, LinkedCard>): Promise<void> {
  const links = await query(work.sql).rows<{ row: RiskCardRow; risk: RiskRow }>`
       with deleted as (delete from risk_cards k where k.card_id = any(${[...cards.keys()]}::uuid[]) returning k.id, to_jsonb(k) as row)
     select d.row, to_jsonb(r) as risk from deleted d join risks r on r.id = (d.row ->> 'risk_id')::uuid
     order by d.id`;
  for (const { row, risk } of links) work.emit(riskCardEvent(cards.get(row.card_id)!, risk, row, null));
  if (links.length > 0) work.raise(RISKS_TOPIC);
}
