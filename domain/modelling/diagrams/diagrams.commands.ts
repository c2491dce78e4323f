import { query, withHeartbeat } from '../../../platform/database.ts';
import {
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
  requireText,
} from '../../../platform/errors.ts';
import { deleteLinks, type LinkedCard, lockCard, lockLinkedCards } from '../../collaboration/cards.access.ts';
import { checkLine, checkText, MAX_DESCRIPTION } from '../../inventory/cards/rules/values.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, removeRow } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow } from '../../kernel/resources/rows.ts';
import { diagramText } from './diagrams.list.ts';
import {
  checkVisibility,
  Diagram,
  DiagramCard,
  type DiagramCardRow,
  DiagramFavorite,
  type DiagramInput,
  type DiagramRow,
  diagramEvent,
  favoriteEvent,
  linkEvent,
  lockDiagram,
  MAX_NAME,
  requireOwner,
} from './diagrams.load.ts';
import { EMPTY_DRAWING, type ReadDrawing } from './drawing.work.ts';
import { checkDrawing, checkThumbnail, storeDrawing } from './drawings.store.ts';

/** The right to link a card to a diagram and to unlink it. */
export const MANAGE_LINKS = { app: 'diagrams.manage', card: 'card.manage_diagram_links' } as const;

/** Links a card to a diagram, unless it is linked already. @throws EstateError `forbidden`, `not_found`. */
export async function linkCard(ctx: Ctx, id: string, cardId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async (work) => {
    // lock order: cards before rows that refer to them
    const card = await lockCard(work.sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_LINKS, card);
    await insertLinks(work, ctx, await lockDiagram(work.sql, ctx, id), [card]);
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
    if ((await removeLinks(work, diagram, { card_id: card.id })) === 0)
      throw notFound('link to the card', cardId);
  });
}

/**
 * Replaces the links of a diagram; those to cards that the caller does not see stay.
 * @throws EstateError `validation_failed` naming unknown and repeated cards.
 */
async function replaceLinks(work: Work, ctx: Ctx, diagram: DiagramRow, given: string[]): Promise<void> {
  const ids = given.map((id) => id.toLowerCase());
  const errors: FieldError[] = ids.flatMap((id, n) =>
    ids.indexOf(id) < n ? [{ field: `card_ids.${n}`, code: 'duplicate', message: 'is given twice' }] : [],
  );
  const cards = await lockLinkedCards(work, ctx, ids, errors);
  if (errors.length > 0) throw invalidFields(errors);
  const { card_ids: current } = JSON.parse(await diagramText(work.sql, ctx, diagram.id)) as {
    card_ids: string[];
  };
  const removed = current.filter((id) => !ids.includes(id));
  await removeLinks(work, diagram, { card_id: removed });
  await insertLinks(work, ctx, diagram, cards);
}

async function insertLinks(work: Work, ctx: Ctx, diagram: DiagramRow, cards: LinkedCard[]): Promise<void> {
  if (cards.length === 0) return;
  const rows = await query(work.sql).column<DiagramCardRow>`insert into diagram_cards as k (diagram_id,
    card_id, user_id) select ${diagram.id}::uuid, unnest(${cards.map(({ id }) => id)}::uuid[]),
    ${ctx.caller.userId}::uuid
     on conflict (diagram_id, card_id) do nothing returning to_jsonb(k) as row`;
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const row of rows) work.emit(linkEvent(byId.get(row.card_id)!, row, false, diagram.private_to));
}

/** Removes links of a diagram, by default all of them. @returns how many there were. */
async function removeLinks(
  work: Work,
  diagram: DiagramRow,
  which: { card_id?: string | string[] } = {},
): Promise<number> {
  const where = { diagram_id: diagram.id, ...which };
  return await deleteLinks<DiagramCardRow>(work, DiagramCard, where, (card, row) =>
    linkEvent(card, row, true, diagram.private_to),
  );
}

/** The largest settings of a diagram, in characters of JSON. */
export const MAX_SETTINGS = 100_000;

/** Creates a diagram. @throws EstateError `forbidden`, `validation_failed`. */
export async function createDiagram(ctx: Ctx, input: DiagramInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  // read before the transaction locks anything
  const given = await readData(input);
  return await command(ctx, async (work) => {
    const row = await insertDiagram(work, ctx, input, { given });
    return await diagramText(work.sql, ctx, row.id);
  });
}

/** The same within a command. @param given the drawing, if it has been read; the others are set by imports only. */
export async function insertDiagram(
  work: Work,
  ctx: Ctx,
  input: DiagramInput,
  { given, ...more }: { given?: ReadData; id?: string; group_ids?: string[] } = {},
): Promise<DiagramRow> {
  const read = given ?? (await withHeartbeat(work.sql, () => readData(input)));
  const values = await checked(work, input, null, read);
  const row = await insertRow(work.sql, Diagram, {
    ...values,
    group_ids: [],
    ...more,
    created_by: ctx.caller.userId,
    ...(await checkVisibility(work, ctx, input, null)),
  });
  work.emit(diagramEvent(null, row));
  if (input.card_ids) await replaceLinks(work, ctx, row, input.card_ids);
  return row;
}

/**
 * Changes a diagram; `card_ids` replaces its links.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchDiagram(ctx: Ctx, id: string, input: DiagramInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  const given = await readData(input);
  return await command(ctx, async (work) => {
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    const { private_to, shared_with } = await checkVisibility(work, ctx, input, before);
    const values = { ...(await checked(work, input, before, given)), private_to, shared_with };
    const row = await changeRow(work, Diagram, before, values, diagramEvent);
    if (input.card_ids !== undefined) await replaceLinks(work, ctx, row, input.card_ids ?? []);
    return await diagramText(work.sql, ctx, id);
  });
}

/** Deletes a diagram with its links and favourites. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteDiagram(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.manage');
  await command(ctx, async (work) => {
    const row = await lockDiagram(work.sql, ctx, id);
    if (row.private_to !== null) requireOwner(ctx, row, 'delete a diagram that is not public');
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    await removeLinks(work, row);
    const favorites = await deleteRows(work.sql, DiagramFavorite, (query) =>
      query.where({ diagram_id: row.id }),
    );
    for (const favorite of favorites) work.emit(favoriteEvent(favorite, null));
    await removeRow(work, Diagram, row, diagramEvent);
  });
}

/** The drawing and the thumbnail of a request, after their checks. */
interface ReadData {
  /** An empty one where it is cleared, undefined where the request has none. */
  drawing: ReadDrawing | undefined;
  thumbnail: string | undefined;
}

async function readData({ data }: DiagramInput): Promise<ReadData> {
  const xml = data === null ? null : data?.xml;
  const thumbnail = data?.thumbnail;
  return {
    drawing:
      xml === undefined ? undefined : await checkDrawing(typeof xml === 'string' ? xml : EMPTY_DRAWING),
    thumbnail: typeof thumbnail === 'string' ? await checkThumbnail(thumbnail) : undefined,
  };
}

/** The input as it is stored. */
async function checked(
  work: Work,
  input: DiagramInput,
  before: DiagramRow | null,
  given: ReadData,
): Promise<Partial<DiagramRow>> {
  const values: Partial<DiagramRow> = {};
  if (input.name !== undefined) {
    values.name = requireText(input.name, 'name');
    const error = checkLine('name', values.name, MAX_NAME);
    if (error) throw invalidField(error.field, error.code, error.message);
  }
  if (input.description !== undefined) {
    values.description = input.description;
    const error = checkText('description', input.description ?? '', MAX_DESCRIPTION);
    if (error) throw invalidField(error.field, error.code, error.message);
  }
  const { xml: _, thumbnail, ...settings } = input.data ?? {};
  if (given.drawing !== undefined || before === null) {
    const drawing = given.drawing ?? (await checkDrawing(EMPTY_DRAWING));
    values.drawing = await storeDrawing(work.sql, drawing, before?.drawing ?? null);
  }
  if (input.data === null) return { ...values, thumbnail: null, settings: {} };
  if (given.thumbnail !== undefined) values.thumbnail = given.thumbnail;
  else if (thumbnail === null) values.thumbnail = null;
  values.settings = mergedSettings(before?.settings ?? {}, settings);
  return values;
}

function mergedSettings(before: Record<string, unknown>, input: Record<string, unknown>) {
  const entries = Object.entries({ ...before, ...input }).filter(([, value]) => value !== null);
  const settings = Object.fromEntries(entries);
  if (JSON.stringify(settings).length > MAX_SETTINGS) {
    const message = `must not contain more than ${MAX_SETTINGS} characters of JSON as settings`;
    throw invalidField('data', 'too_long', message);
  }
  return settings;
}
