import { EstateError } from '../../platform/errors.ts';
import { closeSystemTodos, openSystemTodo } from '../collaboration/todos/todos.system.ts';
import { command, type Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { rights } from './bpm.access.ts';
import type { FlowRow, ProcessCard } from './bpm.types.ts';
import { saveWithin, targetsOf } from './diagrams.save.ts';
import { plannedLinks, unfitTargets } from './flow.links.ts';
import { flowText } from './flow.list.ts';
import { lockFlow, storeFlow } from './flow.load.ts';

type Ids = { process: string; version: string };

/** What to-dos for approvers are about. */
const TOPIC = 'process_flow_approval';
/** Approvers who are asked. */
const MAX_ASKED = 100;

/**
 * Who is asked to approve: those who hold a role on the process that allows it, or else everybody whose own role does.
 * Nobody asks himself where there are others.
 */
async function approversOf({ sql, metamodel }: Work, ctx: Ctx, process: ProcessCard): Promise<string[]> {
  const roles = (metamodel.cardTypes.get(process.type)?.stakeholderRoles ?? [])
    .filter(({ permissions }) => permissions.has(rights.approve.card))
    .map(({ key }) => key);
  const { rows } = await sql.raw(
    `with holders as (
       select u.id from stakeholders s join users u on u.id = s.user_id and u.is_active
       where s.card_id = ?::uuid and s.role = any(?::text[])
     )
     select id from holders
     union
     select u.id from users u join roles r on r.key = u.role and not r.is_archived
     where not exists (select from holders where id is distinct from ?::uuid) and u.is_active and u.kind = 'person'
       and (r.permissions @> '{"*": true}' or r.permissions @> '{"bpm.approve_flows": true}')
     order by id limit ${MAX_ASKED}`,
    [process.id, roles, ctx.caller.userId] as never,
  );
  const all = rows.map(({ id }: { id: string }) => id);
  const others = all.filter((id: string) => id !== ctx.caller.userId);
  return others.length > 0 ? others : all;
}

/**
 * Submits a draft; approvers are told, and asked by a to-do each.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function submitFlow(ctx: Ctx, ids: Ids): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { process, row } = await lockFlow(work, ctx, ids, 'submit', rights.drafts);
    const recipients = await approversOf(work, ctx, process);
    const values = {
      status: 'pending' as const,
      submitted_by: ctx.caller.userId,
      submitted_at: new Date().toISOString(),
    };
    await storeFlow(work, row, values, 'submitted', { recipients });
    for (const assignedTo of recipients) {
      await openSystemTodo(work, {
        topic: TOPIC,
        subjectId: row.id,
        assignedTo,
        description: `Approve revision ${row.revision} of the flow of ${process.name}`,
        card: process,
      });
    }
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
    await closeSystemTodos(work, { topic: TOPIC, subjectId: row.id });
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
    await closeSystemTodos(work, { topic: TOPIC, subjectId: row.id });
    return await flowText(work.sql, row.id);
  });
}
