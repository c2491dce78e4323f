import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { flowEvent } from './bpm.events.ts';
import type { FlowRow } from './bpm.types.ts';
import type { PreparedContent, PreparedModel } from './bpmn.read.ts';
import { elementsAmong, storeContent } from './contents.store.ts';
import { targetsOf } from './diagrams.save.ts';
import { plannedLinks, savePlanned } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { lockFlow, storeFlow } from './flow.load.ts';

/** Drafts that a process may have at a time, submitted ones among them. */
const MAX_OPEN = 50;

export interface FlowInput {
  model: PreparedModel;
  thumbnail: PreparedContent | null;
  /** An earlier version of the same process, whose planned links are taken over. */
  based_on_id: string | null;
}

/**
 * Begins a draft.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `validation_failed` for an unknown `based_on_id`.
 */
export async function createDraft(ctx: Ctx, processId: string, input: FlowInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.drafts);
    const based = await basedOn(work, process.id, input.based_on_id);
    const { rows } = await sql.raw(
      `select coalesce(max(revision), 0) + 1 as revision, count(*) filter (where status in ('draft', 'pending')) as open
       from process_flow_versions where process_id = ?::uuid`,
      [process.id],
    );
    if (Number(rows[0].open) >= MAX_OPEN) {
      throw new EstateError('wrong_state', `The process has ${MAX_OPEN} drafts; delete some of them first.`);
    }
    const content_id = await storeContent(sql, input.model);
    const row = (await insertRow(sql, 'process_flow_versions', {
      process_id: process.id,
      status: 'draft',
      revision: Number(rows[0].revision),
      content_id,
      thumbnail_id: input.thumbnail && (await storeContent(sql, input.thumbnail)),
      based_on_id: based,
      created_by: ctx.caller.userId,
    })) as FlowRow;
    work.emit(flowEvent(null, row));
    if (based) await keepFitting(work, row, targetsOf(await plannedLinks(work, based)));
    return await flowText(sql, row.id);
  });
}

async function basedOn({ sql }: Work, process_id: string, id: string | null): Promise<string | null> {
  if (id === null) return null;
  const row = await sql('process_flow_versions').where({ id, process_id }).first('id');
  if (row) return row.id;
  throw invalidField('based_on_id', 'unknown_version', 'is no flow version of the process');
}

/** Plans the links of the elements that the version's model has; the others go. */
async function keepFitting(work: Work, row: FlowRow, links: ReturnType<typeof targetsOf>): Promise<void> {
  const there = await elementsAmong(work.sql, row.content_id, [...links.keys()]);
  await savePlanned(work, row, new Map([...links].filter(([element]) => there.has(element))));
}

export interface FlowPatch {
  /** Absent: the model stays as it is. */
  model: PreparedModel | undefined;
  /** Absent: stays with the model, and goes with a new one. */
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
    const redrawn = content_id !== row.content_id;
    const picture = thumbnail === undefined && redrawn ? null : thumbnail;
    const thumbnail_id =
      picture === undefined ? row.thumbnail_id : picture && (await storeContent(sql, picture));
    const changed = differing(row, { content_id, thumbnail_id });
    if (Object.keys(changed).length > 0) {
      const after = await storeFlow(work, row, changed);
      if (redrawn) await keepFitting(work, after, targetsOf(await plannedLinks(work, row.id)));
    }
    return await flowText(sql, row.id);
  });
}

/** Deletes a draft with the links that it plans. @throws EstateError as {@link lockFlow}. */
export async function deleteDraft(ctx: Ctx, ids: { process: string; version: string }): Promise<void> {
  await command(ctx, async (work) => {
    const { row } = await lockFlow(work, ctx, ids, 'delete', rights.drafts);
    await savePlanned(work, row, new Map());
    await work.sql('process_flow_versions').where({ id: row.id }).delete();
    work.emit(flowEvent(row, null));
  });
}
