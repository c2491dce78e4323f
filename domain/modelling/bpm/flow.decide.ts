import { EstateError } from '../../../platform/errors.ts';
import { closeSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { rights } from './bpm.access.ts';
import { type FlowRow, FlowVersion } from './bpm.model.ts';
import { saveWithin, targetsOf } from './diagrams.save.ts';
import { askApprovers } from './flow.approvers.ts';
import { inactiveTargets, plannedLinks } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { lockFlow, updateFlow } from './flow.load.ts';

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
    };
    const after = await updateFlow(work, row, values, 'submitted');
    await askApprovers(work, [{ row: after, process }]);
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
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function rejectFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row } = await lockFlow(work, ctx, ids, 'reject', rights.approve);
    const values = { status: 'draft' as const, submitted_by: null, submitted_at: null };
    await updateFlow(work, row, values, 'rejected', { recipients: requesters(row) });
    await closeSystemTodos(work, { topic: APPROVAL_TOPIC, subjectId: row.id });
    return await flowText(work.sql, row.id);
  });
}
