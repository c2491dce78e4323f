import { queryRows } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { flowEvent } from './bpm.events.ts';
import { type FlowRow, FlowVersion } from './bpm.model.ts';
import type { PreparedContent, PreparedModel } from './bpmn.read.ts';
import { elementsAmong, storeContent } from './contents.store.ts';
import { targetsOf } from './diagrams.save.ts';
import { plannedLinks, savePlanned } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { lockFlow, updateFlow } from './flow.load.ts';

/** The largest number of drafts and pending versions of a process. */
const MAX_OPEN = 50;

export interface FlowInput {
  model: PreparedModel;
  thumbnail: PreparedContent | null;
  /** An earlier version of the same process, whose planned links are copied. */
  based_on_id: string | null;
}

/**
 * Creates a draft.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `validation_failed` for an unknown `based_on_id`.
 */
export async function createDraft(ctx: Ctx, processId: string, input: FlowInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.drafts);
    const based = await basedOn(work, process.id, input.based_on_id);
    const [found] = await queryRows<{ revision: number; open: number }>(
      sql,
      `select coalesce(max(revision), 0) + 1 as revision, count(*) filter (where status in ('draft', 'pending')) as open
       from process_flow_versions where process_id = ?::uuid`,
      [process.id],
    );
    if (found!.open >= MAX_OPEN) {
      throw new EstateError('wrong_state', `The process has ${MAX_OPEN} drafts; delete some of them first.`);
    }
    const content_id = await storeContent(sql, input.model);
    const row = await insertRow(sql, FlowVersion, {
      process_id: process.id,
      status: 'draft',
      revision: found!.revision,
      content_id,
      thumbnail_id: input.thumbnail && (await storeContent(sql, input.thumbnail)),
      based_on_id: based,
      created_by: ctx.caller.userId,
    });
    work.emit(flowEvent(null, row));
    if (based) await planMatching(work, row, targetsOf(await plannedLinks(work, based)));
    return await flowText(sql, row.id);
  });
}

async function basedOn({ sql }: Work, process_id: string, id: string | null): Promise<string | null> {
  if (id === null) return null;
  const row = await sql('process_flow_versions').where({ id, process_id }).first('id');
  if (row) return row.id;
  throw invalidField('based_on_id', 'unknown_version', 'is no flow version of the process');
}

/** Plans the links of those elements that the model of the version contains. */
async function planMatching(work: Work, row: FlowRow, links: ReturnType<typeof targetsOf>): Promise<void> {
  const existing = await elementsAmong(work.sql, row.content_id, [...links.keys()]);
  await savePlanned(work, row, new Map([...links].filter(([element]) => existing.has(element))));
}

export interface FlowPatch {
  /** Absent: unchanged. */
  model: PreparedModel | undefined;
  /** Absent: unchanged, but removed with a new model. */
  thumbnail: PreparedContent | null | undefined;
}

/** Changes a draft. @throws EstateError as {@link lockFlow}. */
export async function patchDraft(
  ctx: Ctx,
  ids: { process: string; version: string },
  { model, thumbnail }: FlowPatch,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { row } = await lockFlow(work, ctx, ids, 'edit', rights.drafts);
    const content_id = model ? await storeContent(sql, model) : row.content_id;
    const isNewModel = content_id !== row.content_id;
    const picture = thumbnail === undefined && isNewModel ? null : thumbnail;
    const thumbnail_id =
      picture === undefined ? row.thumbnail_id : picture && (await storeContent(sql, picture));
    const changed = differing(row, { content_id, thumbnail_id });
    if (Object.keys(changed).length > 0) {
      const after = await updateFlow(work, row, changed);
      if (isNewModel) await planMatching(work, after, targetsOf(await plannedLinks(work, row.id)));
    }
    return await flowText(sql, row.id);
  });
}

/** Deletes a draft with its planned links. @throws EstateError as {@link lockFlow}. */
export async function deleteDraft(ctx: Ctx, ids: { process: string; version: string }): Promise<void> {
  await command(ctx, async (work) => {
    const { row } = await lockFlow(work, ctx, ids, 'delete', rights.drafts);
    await savePlanned(work, row, new Map());
    await work.sql('process_flow_versions').where({ id: row.id }).delete();
    work.emit(flowEvent(row, null));
  });
}
