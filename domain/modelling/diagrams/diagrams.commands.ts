import { whileAwake } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { checkLine, checkText, MAX_DESCRIPTION } from '../../inventory/cards/rules/text.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { insertRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
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
  const given = await readGiven(input);
  return await command(ctx, async (work) => {
    const row = await insertDiagram(work, ctx, input, { given });
    return await diagramText(work.sql, ctx, row.id);
  });
}

/** The same within a command; but for what was read before, `more` is what only comes from a file. */
export async function insertDiagram(
  work: Work,
  ctx: Ctx,
  input: DiagramInput,
  { given, ...more }: { given?: Given; id?: string; group_ids?: string[] } = {},
): Promise<DiagramRow> {
  const read = given ?? (await whileAwake(work.sql, () => readGiven(input)));
  const values = await checked(work, input, null, read);
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
  const given = await readGiven(input);
  return await command(ctx, async (work) => {
    const before = await lockDiagram(work.sql, ctx, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await diagramText(work.sql, ctx, id));
    const { private_to, shared_with } = await checkedAudience(work, ctx, input, before);
    const changed = differing(before, {
      ...(await checked(work, input, before, given)),
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

/** What is sent of a drawing, read. */
interface Given {
  /** An empty one where it is cleared, and undefined where nothing is said of it. */
  drawing: ReadDrawing | undefined;
  thumbnail: string | undefined;
}

async function readGiven({ data }: DiagramInput): Promise<Given> {
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
  given: Given,
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
    throw invalidField('data', 'too_long', `must not keep more than ${MAX_SETTINGS} characters of JSON`);
  }
  return settings;
}
