import { queryRows } from '../../../platform/database.ts';
import { invalidFields, notFound } from '../../../platform/errors.ts';
import { lockCard } from '../../collaboration/cards.access.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { linkEvent } from './diagrams.events.ts';
import { diagramText } from './diagrams.list.ts';
import { type LinkedCard, lockDiagram, lockLinkedCards } from './diagrams.load.ts';
import type { DiagramCardRow, DiagramRow } from './diagrams.model.ts';

/** The right to link a card to a diagram and to unlink it. */
export const MANAGE_LINKS = { app: 'diagrams.manage', card: 'card.manage_diagram_links' } as const;

/** Links a card to a diagram, unless it is linked already. @throws EstateError `forbidden`, `not_found`. */
export async function linkCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async (work) => {
    // lock order: cards before rows that refer to them
    const card = await lockCard(work.sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_LINKS, card);
    const diagram = await lockDiagram(work.sql, ctx, id);
    await insertLinks(work, ctx, diagram, [card]);
    return await diagramText(work.sql, ctx, id);
  });
}

/** Unlinks a card. @throws EstateError `forbidden`, `not_found` also where there is none. */
export async function unlinkCard(ctx: Ctx, id: string, cardId: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.view');
  await command(ctx, async (work) => {
    const card = await lockCard(work.sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_LINKS, card);
    const diagram = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    if ((await removeLinks(work, diagram, [card.id])) === 0) throw notFound('link to the card', cardId);
  });
}

/**
 * Replaces the links of a diagram; those to cards that the caller does not see stay.
 * @throws EstateError `validation_failed` naming unknown and repeated cards.
 */
export async function replaceLinks(
  work: Work,
  ctx: Ctx,
  diagram: DiagramRow,
  given: string[],
): Promise<void> {
  const ids = given.map((id) => id.toLowerCase());
  const repeated = ids.flatMap((id, n) =>
    ids.indexOf(id) < n ? [{ field: `card_ids.${n}`, code: 'duplicate', message: 'is given twice' }] : [],
  );
  if (repeated.length > 0) throw invalidFields(repeated);
  const cards = await lockLinkedCards(work.sql, ctx, ids, 'card_ids');
  const { card_ids: current } = JSON.parse(await diagramText(work.sql, ctx, diagram.id)) as {
    card_ids: string[];
  };
  await removeLinks(
    work,
    diagram,
    current.filter((id) => !ids.includes(id)),
  );
  await insertLinks(work, ctx, diagram, cards);
}

async function insertLinks(work: Work, ctx: Ctx, diagram: DiagramRow, cards: LinkedCard[]): Promise<void> {
  if (cards.length === 0) return;
  const rows = await queryRows<{ row: DiagramCardRow }>(
    work.sql,
    `insert into diagram_cards as k (diagram_id, card_id, user_id) select ?::uuid, unnest(?::uuid[]), ?::uuid
     on conflict (diagram_id, card_id) do nothing returning to_jsonb(k) as row`,
    [diagram.id, cards.map(({ id }) => id), ctx.caller.userId],
  );
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const { row } of rows) {
    work.emit(linkEvent(byId.get(row.card_id)!, row, false, diagram.private_to));
  }
}

/** Removes all links of a diagram, or those to some cards. @returns how many there were. */
export async function removeLinks(work: Work, diagram: DiagramRow, cardIds?: string[]): Promise<number> {
  const rows = await queryRows<{ row: DiagramCardRow; type: string }>(
    work.sql,
    `with deleted as (
       delete from diagram_cards k where k.diagram_id = ?::uuid ${cardIds ? 'and k.card_id = any(?::uuid[])' : ''}
       returning to_jsonb(k) as row, k.id, k.card_id
     ) select deleted.row, c.type from deleted join cards c on c.id = deleted.card_id order by deleted.id`,
    [diagram.id, ...(cardIds ? [cardIds] : [])],
  );
  for (const { row, type } of rows) {
    work.emit(linkEvent({ id: row.card_id, type }, row, true, diagram.private_to));
  }
  return rows.length;
}
