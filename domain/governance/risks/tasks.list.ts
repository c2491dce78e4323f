import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { likeText } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { askedRisks, type RiskFilter, SEARCH } from './risks.list.ts';

/** So many of a task's occurrences stand in the task itself; all of them have a list of their own. */
export const NEWEST_OCCURRENCES = 50;

const occurrenceMembers = {
  id: 'o.id',
  task_id: 'o.task_id',
  sequence: 'o.sequence',
  assigned_owner_id: 'o.assigned_owner_id',
  assigned_owner_name: 'oa.display_name',
  due_date: 'o.due_date',
  status: 'o.status',
  activated_at: 'utc(o.activated_at)',
  completed_at: 'utc(o.completed_at)',
  completed_by: 'o.completed_by',
  completed_by_name: 'oc.display_name',
  owner_at_completion: 'o.owner_at_completion',
  owner_at_completion_name: 'oo.display_name',
  completion_notes: 'o.completion_notes',
  created_at: 'utc(o.created_at)',
  updated_at: 'utc(o.updated_at)',
};
const OCCURRENCES = `risk_mitigation_occurrences o left join users oa on oa.id = o.assigned_owner_id
  left join users oc on oc.id = o.completed_by left join users oo on oo.id = o.owner_at_completion`;
const occurrenceJson = `json_build_object(${Object.entries(occurrenceMembers)
  .map(([name, sql]) => `'${name}', ${sql}`)
  .join(', ')})`;

const occurrenceList: ListSpec = {
  name: 'mitigation-task-occurrences',
  from: OCCURRENCES,
  id: 'o.id',
  idType: 'uuid',
  sorts: {
    sequence: { sql: 'o.sequence::bigint', type: 'bigint', immutable: true },
    due_date: { sql: 'o.due_date::text', type: 'text' },
    status: { sql: 'o.status', type: 'text', filled: true },
  },
  defaultSort: 'sequence',
  defaultDir: 'asc',
  members: occurrenceMembers,
};

/** Mitigation tasks, over the aliases `t`, `r` of the risk and `u` of the owner. */
const taskList: ListSpec = {
  name: 'mitigation-tasks',
  from: 'risk_mitigation_tasks t join risks r on r.id = t.risk_id left join users u on u.id = t.owner_id',
  id: 't.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    reference: { sql: 'substr(t.reference, 3)::bigint', type: 'bigint', filled: true },
    risk_reference: { sql: 'substr(r.reference, 3)::bigint', type: 'bigint', filled: true },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
    owner_name: { sql: 'lower(u.display_name)', type: 'text' },
    updated_at: { sql: 't.updated_at', type: 'timestamptz', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'asc',
  search: `fold(t.reference || ' ' || t.title || ' ' || coalesce(t.description, ''))`,
  members: {
    id: 't.id',
    reference: 't.reference',
    risk_id: 't.risk_id',
    risk_reference: 'r.reference',
    risk_title: 'r.title',
    title: 't.title',
    description: 't.description',
    owner_id: 't.owner_id',
    owner_name: 'u.display_name',
    recurrence_unit: 't.recurrence_unit',
    recurrence_interval: 't.recurrence_interval',
    lead_time_days: 't.lead_time_days',
    is_active: 't.is_active',
    created_by: 't.created_by',
    created_at: 'utc(t.created_at)',
    updated_at: 'utc(t.updated_at)',
    occurrences: `(select coalesce(json_agg(newest.item order by newest.sequence), '[]') from (
      select o.sequence, ${occurrenceJson} as item from ${OCCURRENCES}
      where o.task_id = t.id order by o.sequence desc limit ${NEWEST_OCCURRENCES}) newest)`,
  },
};

/** The tasks of a risk. @throws EstateError `forbidden`, `not_found`. */
export async function listRiskTasks(ctx: Ctx, riskId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  if (!(await ctx.db('risks').where({ id: riskId }).first('id'))) throw notFound('risk', riskId);
  const where: Condition[] = [{ sql: 't.risk_id = ?::uuid', bindings: [riskId] }];
  return await runList(ctx.db, taskList, where, params, { owner: ctx.caller.userId });
}

/** The tasks of all risks that the filter, and the search, let through. @throws EstateError `forbidden`. */
export async function exportTasks(
  ctx: Ctx,
  { search, ...params }: ListParams & RiskFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  const where = askedRisks(ctx, params);
  // what is looked for are risks
  if (search) where.push({ sql: `${SEARCH} like ?`, bindings: [`%${likeText(search)}%`] });
  return await runList(ctx.db, taskList, where, params, { owner: ctx.caller.userId });
}

/** The occurrences of a task, the first one first. @throws EstateError `forbidden`, `not_found`. */
export async function listOccurrences(ctx: Ctx, taskId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  if (!(await ctx.db('risk_mitigation_tasks').where({ id: taskId }).first('id'))) {
    throw notFound('mitigation task', taskId);
  }
  const where: Condition[] = [{ sql: 'o.task_id = ?::uuid', bindings: [taskId] }];
  return await runList(ctx.db, occurrenceList, where, params, { owner: ctx.caller.userId });
}

/** One task as its JSON text. @throws EstateError `not_found`. */
export async function taskText(sql: Sql, id: string): Promise<JsonText> {
  const text = await itemText(sql, taskList, id);
  if (text === undefined) throw notFound('mitigation task', id);
  return text;
}
