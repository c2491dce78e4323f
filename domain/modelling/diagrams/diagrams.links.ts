import { invalidFields, notFound } from '../../../platform/errors.ts';
import { holdCard } from '../../collaboration/attended.card.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { linkEvent } from './diagrams.events.ts';
import { diagramText } from './diagrams.list.ts';
import { holdCards, type LinkedCard, lockDiagram } from './diagrams.load.ts';
import type { DiagramRow, LinkRow } from './diagrams.types.ts';

/** Needed to link a card to a diagram, and to take the link away. */
const MANAGE_LINKS = { app: 'diagrams.manage', card: 'card.manage_diagram_links' } as const;

/** Links a card to a diagram; one that is linked already stays so. @throws EstateError `forbidden`, `not_found`. */
export async function linkCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async (work) => {
    // cards before what hangs on them, as everywhere
    const card = await holdCard(work.sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_LINKS, card);
    const diagram = await lockDiagram(work.sql, ctx, id);
    await insertLinks(work, ctx, diagram, [card]);
    return await diagramText(work.sql, ctx, id);
  });
}

/** Takes a link away. @throws EstateError `forbidden`, `not_found` also where there is none. */
export async function unlinkCard(ctx: Ctx, id: string, cardId: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.view');
  await command(ctx, async (work) => {
    const card = await holdCard(work.sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_LINKS, card);
    const diagram = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    if ((await removeLinks(work, diagram, [card.id])) === 0) throw notFound('link to the card', cardId);
  });
}

/**
 * Makes the links of a diagram these; those to cards that the caller does not see stay.
 * @throws EstateError `validation_failed` naming the cards that are none, or given twice.
 */
export async function replaceLinks(
  work: Work,
  ctx: Ctx,
  diagram: DiagramRow,
  given: string[],
): Promise<void> {
  const ids = given.map((id) => id.toLowerCase());
  const twice = ids.flatMap((id, at) =>
    ids.indexOf(id) < at ? [{ field: `card_ids.${at}`, code: 'duplicate', message: 'is given twice' }] : [],
  );
  if (twice.length > 0) throw invalidFields(twice);
  const cards = await holdCards(work.sql, ctx, ids, 'card_ids');
  const { card_ids: present } = JSON.parse(await diagramText(work.sql, ctx, diagram.id)) as {
    card_ids: string[];
  };
  await removeLinks(
    work,
    diagram,
    present.filter((id) => !ids.includes(id)),
  );
  await insertLinks(work, ctx, diagram, cards);
}

async function insertLinks(work: Work, ctx: Ctx, diagram: DiagramRow, cards: LinkedCard[]): Promise<void> {
  if (cards.length === 0) return;
  const { rows } = await work.sql.raw(
    `insert into diagram_cards as k (diagram_id, card_id, user_id) select ?::uuid, unnest(?::uuid[]), ?::uuid
     on conflict (diagram_id, card_id) do nothing returning to_jsonb(k) as row`,
    [diagram.id, cards.map(({ id }) => id), ctx.caller.userId] as never,
  );
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const { row } of rows as { row: LinkRow }[]) {
    work.emit(linkEvent(byId.get(row.card_id)!, row, false, diagram.private_to));
  }
}

/** Removes all links of a diagram, or those to some cards. @returns how many there were. */
export async function removeLinks(work: Work, diagram: DiagramRow, cardIds?: string[]): Promise<number> {
  const { rows } = await work.sql.raw(
    `with gone as (
       delete from diagram_cards k where k.diagram_id = ?::uuid ${cardIds ? 'and k.card_id = any(?::uuid[])' : ''}
       returning to_jsonb(k) as row, k.id, k.card_id
     ) select gone.row, c.type from gone join cards c on c.id = gone.card_id order by gone.id`,
    [diagram.id, ...(cardIds ? [cardIds] : [])] as never,
  );
  for (const { row, type } of rows as { row: LinkRow; type: string }[]) {
    work.emit(linkEvent({ id: row.card_id, type }, row, true, diagram.private_to));
  }
  return rows.length;
}
