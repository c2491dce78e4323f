import { invalidField } from '../../platform/errors.ts';
import { requirePermission } from '../access/policy.ts';
import { checkLine, checkText, MAX_DESCRIPTION } from '../cards/rules/text.ts';
import { command, type Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import { differing, insertRow, updateRow } from '../events/stored-rows.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { diagramEvent, diagramFavoriteEvent } from './diagrams.events.ts';
import { removeLinks, replaceLinks } from './diagrams.links.ts';
import { diagramText } from './diagrams.list.ts';
import { lockDiagram } from './diagrams.load.ts';
import { checkedAudience, requireMaker } from './diagrams.shares.ts';
import type { DiagramInput, DiagramRow } from './diagrams.types.ts';
import { checkDrawing } from './drawing.thread.ts';
import { EMPTY_DRAWING, type ReadDrawing } from './drawing.types.ts';
import { storeDrawing } from './drawings.store.ts';
import { checkThumbnail } from './thumbnail.check.ts';

const MAX_NAME = 200;
/** Characters of JSON that a client's settings of a diagram may have. */
export const MAX_SETTINGS = 100_000;

/** Makes a diagram. @throws EstateError `forbidden`, `validation_failed`. */
export async function createDiagram(ctx: Ctx, input: DiagramInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.manage');
  // before anything is locked
  const drawing = await drawingOf(input);
  return await command(ctx, async (work) => {
    const row = await insertDiagram(work, ctx, input, { drawing });
    return await diagramText(work.sql, ctx, row.id);
  });
}

/** The same within a command; but for the drawing that was read, `more` is what only comes from a file. */
export async function insertDiagram(
  work: Work,
  ctx: Ctx,
  input: DiagramInput,
  { drawing, ...more }: { drawing?: ReadDrawing | undefined; id?: string; group_ids?: string[] } = {},
): Promise<DiagramRow> {
  const values = await checked(work, input, null, drawing ?? (await drawingOf(input)));
  const row = (await insertRow(work.sql, 'diagrams', {
    ...values,
    group_ids: [],
    ...more,
    created_by: ctx.caller.userId,
    ...(await checkedAudience(work, ctx, input, null)),
  })) as DiagramRow;
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
  const drawing = await drawingOf(input);
  return await command(ctx, async (work) => {
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    const { private_to, shared_with } = await checkedAudience(work, ctx, input, before);
    const changed = differing(before, {
      ...(await checked(work, input, before, drawing)),
      private_to,
      shared_with,
    });
    let row = before;
    if (Object.keys(changed).length > 0) {
      row = (await updateRow(
        work.sql,
        'diagrams',
        { column: 'id', value: before.id },
        changed,
      )) as DiagramRow;
      work.emit(diagramEvent(before, row));
    }
    if (input.card_ids !== undefined) await replaceLinks(work, ctx, row, input.card_ids ?? []);
    return await diagramText(work.sql, ctx, id);
  });
}

/** Deletes a diagram with its links and stars. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteDiagram(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.manage');
  await command(ctx, async (work) => {
    const row = await lockDiagram(work.sql, ctx, id);
    if (row.private_to !== null) requireMaker(ctx, row, 'deletes a diagram that he shares');
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    await removeLinks(work, row);
    const stars = await work
      .sql('diagram_favorites')
      .where({ diagram_id: row.id })
      .delete()
      .returning(work.sql.raw('to_jsonb(diagram_favorites) as "row"'));
    for (const star of stars) work.emit(diagramFavoriteEvent(star.row, null));
    await work.sql('diagrams').where({ id: row.id }).delete();
    work.emit(diagramEvent(row, null));
  });
}

/** The drawing that is sent, read; an empty one where it is cleared, and undefined where nothing is said of it. */
async function drawingOf({ data }: DiagramInput): Promise<ReadDrawing | undefined> {
  const xml = data === null ? null : data?.xml;
  return xml === undefined ? undefined : await checkDrawing(typeof xml === 'string' ? xml : EMPTY_DRAWING);
}

/** The input as it is stored. */
async function checked(
  work: Work,
  input: DiagramInput,
  before: DiagramRow | null,
  given: ReadDrawing | undefined,
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
  if (given !== undefined || before === null) {
    const drawing = given ?? (await checkDrawing(EMPTY_DRAWING));
    values.drawing = await storeDrawing(work.sql, drawing, before?.drawing ?? null);
  }
  if (input.data === null) return { ...values, thumbnail: null, settings: {} };
  if (typeof thumbnail === 'string') values.thumbnail = checkThumbnail(thumbnail);
  else if (thumbnail === null) values.thumbnail = null;
  values.settings = mergedSettings(before?.settings ?? {}, settings);
  return values;
}

function mergedSettings(before: Record<string, unknown>, input: Record<string, unknown>) {
  const entries = Object.entries({ ...before, ...input }).filter(([, value]) => value !== null);
  const settings = Object.fromEntries(entries);
  if (JSON.stringify(settings).length > MAX_SETTINGS) {
    throw invalidField('data', 'too_long', `must not keep more than ${MAX_SETTINGS} characters of JSON`);
  }
  return settings;
}
