import { EstateError } from '../../../platform/errors.ts';
import { closeSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { rights } from './bpm.access.ts';
import type { FlowRow } from './bpm.types.ts';
import { saveWithin, targetsOf } from './diagrams.save.ts';
import { askApprovers } from './flow.approvers.ts';
import { plannedLinks, unfitTargets } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { lockFlow, storeFlow } from './flow.load.ts';

type Ids = { process: string; version: string };

/**
 * Submits a draft; approvers are told, and asked by a to-do each.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function submitFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { process, row } = await lockFlow(work, ctx, ids, 'submit', rights.drafts);
    const values = {
      status: 'pending' as const,
      submitted_by: ctx.caller.userId,
      submitted_at: new Date().toISOString(),
    };
    const after = await storeFlow(work, row, values, 'submitted');
    await askApprovers(work, [{ row: after, process }]);
    return await flowText(work.sql, row.id);
  });
}

/** Those who wait for a decision. */
const waiting = ({ created_by, submitted_by }: FlowRow): string[] =>
  [...new Set([submitted_by, created_by])].filter((id) => id !== null);

/**
 * Publishes a submitted version: what was published is archived, and the version is saved as the diagram of its process
 * with the links that it plans; other elements keep theirs.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state` also where a planned card is active
 * no more, `cardinality_exceeded`.
 */
export async function approveFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { process, row } = await lockFlow(work, ctx, ids, 'approve', rights.approve);
    const planned = targetsOf(await plannedLinks(work, row.id));
    const unfit = await unfitTargets(work, planned);
    if (unfit.length > 0) {
      throw new EstateError('wrong_state', 'Cards to which elements are to be linked are active no more.', {
        extra: { unfit },
      });
    }
    const { rows: published } = await sql.raw(
      `select to_jsonb(v) as row from process_flow_versions v
       where v.process_id = ?::uuid and v.status = 'published' order by v.id for update`,
      [process.id],
    );
    const now = new Date().toISOString();
    for (const { row: old } of published as { row: FlowRow }[]) {
      await storeFlow(work, old, { status: 'archived', archived_at: now }, 'archived');
    }
    const values = { status: 'published' as const, approved_by: ctx.caller.userId, approved_at: now };
    await storeFlow(work, row, values, 'approved', { recipients: waiting(row) });
    await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id });
    await saveWithin(work, ctx, process, row, planned);
    return await flowText(sql, row.id);
  });
}

/**
 * Gives a submitted version back as a draft.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function rejectFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row } = await lockFlow(work, ctx, ids, 'reject', rights.approve);
    const values = { status: 'draft' as const, submitted_by: null, submitted_at: null };
    await storeFlow(work, row, values, 'rejected', { recipients: waiting(row) });
    await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id });
    return await flowText(work.sql, row.id);
  });
}
