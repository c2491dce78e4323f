import { whileAwake } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { checkLine, checkText, MAX_DESCRIPTION } from '../../inventory/cards/rules/text.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { diagramEvent, favoriteEvent } from './diagrams.events.ts';
import { removeLinks, replaceLinks } from './diagrams.links.ts';
import { diagramText } from './diagrams.list.ts';
import { lockDiagram } from './diagrams.load.ts';
import { Diagram, DiagramFavorite, type DiagramRow, MAX_NAME } from './diagrams.model.ts';
import type { DiagramInput } from './diagrams.types.ts';
import { checkVisibility, requireOwner } from './diagrams.visible.ts';
import { checkDrawing } from './drawing.thread.ts';
import { EMPTY_DRAWING, type ReadDrawing } from './drawing.types.ts';
import { storeDrawing } from './drawings.store.ts';
import { checkThumbnail } from './thumbnail.check.ts';

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
  const read = given ?? (await whileAwake(work.sql, () => readData(input)));
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
    const changed = differing(before, {
      ...(await checked(work, input, before, given)),
      private_to,
      shared_with,
    });
    let row = before;
    if (Object.keys(changed).length > 0) {
      row = await updateRow(work.sql, Diagram, { id: before.id }, changed);
      work.emit(diagramEvent(before, row));
    }
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
    await work.sql('diagrams').where({ id: row.id }).delete();
    work.emit(diagramEvent(row, null));
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
    values.name = input.name.trim();
    if (values.name === '') throw invalidField('name', 'required', 'must not be blank');
    const fault = checkLine('name', values.name, MAX_NAME);
    if (fault) throw invalidField(fault.field, fault.code, fault.message);
  }
  if (input.description !== undefined) {
    values.description = input.description;
    const fault = checkText('description', input.description ?? '', MAX_DESCRIPTION);
    if (fault) throw invalidField(fault.field, fault.code, fault.message);
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
    throw invalidField(
      'data',
      'too_long',
      `must not contain more than ${MAX_SETTINGS} characters of JSON as settings`,
    );
  }
  return settings;
}
