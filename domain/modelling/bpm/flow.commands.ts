import { query } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { closeSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardRight } from '../../kernel/permissions/policy.ts';
import { lockItem, removeRow } from '../../kernel/resources/items.ts';
import { findRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { type FlowStep, flowEvent } from './bpm.events.ts';
import { type FlowRow, FlowVersion } from './bpm.model.ts';
import { elementsAmong, type PreparedContent, type PreparedModel, storeContent } from './bpmn.read.ts';
import { saveWithin } from './diagrams.save.ts';
import { type FlowAction, requestApprovals, requireStatus } from './flow.approvers.ts';
import { draftElementText, inactiveTargets, plannedLinks, savePlanned } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { checkTargets, completeTargets, type LinkInput, targetsOf } from './links.save.ts';

/**
 * Locks a version for an action.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
async function lockFlow(
  work: Work,
  ctx: Ctx,
  ids: { process: string; version: string },
  action: FlowAction,
  right: CardRight,
): Promise<{ process: StoredCard; row: FlowRow }> {
  const process = await lockProcess(work, ctx, ids.process, right);
  const key = { id: ids.version, process_id: process.id };
  const row = await lockItem(work, ctx, FlowVersion, key, 'flow version', (id) => flowText(work.sql, id));
  requireStatus(action, row.status);
  return { process, row };
}

/** Updates columns of a version, with an event. @returns the whole row. */
async function updateFlow(
  work: Work,
  before: FlowRow,
  values: Partial<FlowRow>,
  step?: FlowStep,
  more: Record<string, unknown> = {},
): Promise<FlowRow> {
  const after = await updateRow(work.sql, FlowVersion, { id: before.id }, values);
  work.emit(flowEvent(before, after, step, more));
  return after;
}

/** The largest number of drafts and pending versions of a process. */
const MAX_OPEN = 50;

interface FlowInput {
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
    const [found] = await query(sql).rows<{ revision: number; open: number }>`select coalesce(max(revision),
      0) + 1 as revision, count(*) filter (where status in ('draft', 'pending')) as open
       from process_flow_versions where process_id = ${process.id}::uuid`;
    if (found!.open >= MAX_OPEN) {
      throw new EstateError('wrong_state', `The process has ${MAX_OPEN} drafts; delete some of them first.`);
    }
    const row = await insertRow(sql, FlowVersion, {
      process_id: process.id,
      status: 'draft',
      revision: found!.revision,
      content_id: await storeContent(sql, input.model),
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

interface FlowPatch {
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
    const changed = differingMembers(row, { content_id, thumbnail_id });
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
    await removeRow(work, FlowVersion, row, flowEvent);
  });
}

type Ids = { process: string; version: string };

/**
 * Submits a draft; each approver is notified and gets a to-do.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function submitFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { process, row } = await lockFlow(work, ctx, ids, 'submit', rights.drafts);
    const values = {
      status: 'pending' as const,
      submitted_by: ctx.caller.userId,
      submitted_at: new Date().toISOString(),
      rejection_reason: null,
    };
    const after = await updateFlow(work, row, values, 'submitted');
    await requestApprovals(work, [{ row: after, process }]);
    return await flowText(work.sql, row.id);
  });
}

/** The users who are notified of a decision. */
const requesters = ({ created_by, submitted_by }: FlowRow): string[] =>
  [...new Set([submitted_by, created_by])].filter((id) => id !== null);

/**
 * Publishes a submitted version: the published one is archived, and the version is saved as the diagram of its process
 * with its planned links; other elements keep theirs.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state` also where a planned card is not
 * active, `cardinality_exceeded`.
 */
export async function approveFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { process, row } = await lockFlow(work, ctx, ids, 'approve', rights.approve);
    const planned = targetsOf(await plannedLinks(work, row.id));
    const inactive = await inactiveTargets(work, planned);
    if (inactive.length > 0) {
      throw new EstateError('wrong_state', 'Elements are to be linked to cards that are not active.', {
        extra: { inactive },
      });
    }
    const published = await findRows(sql, FlowVersion, (query) =>
      query.where({ process_id: process.id, status: 'published' }).orderBy('id').forUpdate(),
    );
    const now = new Date().toISOString();
    for (const old of published) {
      await updateFlow(work, old, { status: 'archived', archived_at: now }, 'archived');
    }
    const values = { status: 'published' as const, approved_by: ctx.caller.userId, approved_at: now };
    await updateFlow(work, row, values, 'approved', { recipients: requesters(row) });
    await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id });
    await saveWithin(work, ctx, process, row, planned);
    return await flowText(sql, row.id);
  });
}

/**
 * Rejects a submitted version, which becomes a draft again.
 * @param reason shown on the draft, in its history and in the notification.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function rejectFlow(ctx: Ctx, ids: Ids, reason: string | null = null): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row } = await lockFlow(work, ctx, ids, 'reject', rights.approve);
    const rejection_reason = reason?.trim() || null;
    const values = { status: 'draft' as const, submitted_by: null, submitted_at: null, rejection_reason };
    await updateFlow(work, row, values, 'rejected', { recipients: requesters(row) });
    await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id });
    return await flowText(work.sql, row.id);
  });
}

/**
 * Plans the links of an element of a draft, which its approval puts into force; absent targets will be unlinked.
 * @throws EstateError as `lockFlow`, and `validation_failed`.
 */
export async function planLink(
  ctx: Ctx,
  ids: { process: string; version: string },
  element: string,
  input: LinkInput,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { row } = await lockFlow(work, { ...ctx, ifMatch: undefined }, ids, 'edit', rights.drafts);
    const found = await sql('process_content_elements')
      .where({ content_id: row.content_id, bpmn_element_id: element })
      .first('id');
    if (!found) throw notFound('draft element', element);
    const links = await plannedLinks(work, row.id);
    const after = completeTargets(input);
    const errors = await checkTargets(work, ctx, links.get(element), after);
    if (errors.length > 0) throw invalidFields(errors);
    // a plan without targets unlinks the element; without a plan it keeps its links
    await savePlanned(work, row, targetsOf(links).set(element, after));
    return await draftElementText(sql, ctx, row, found.id);
  });
}
