import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import { likeText } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { filterConditions, type RiskFilter, SEARCH } from './risks.list.ts';
import { MitigationTask, Occurrence } from './risks.model.ts';

/** The number of occurrences that a task contains; a separate list has all of them. */
export const NEWEST_OCCURRENCES = 50;

const { recurrence_day: _internal, ...occurrenceColumns } = columnMembers('o', Occurrence);
const occurrenceMembers = {
  ...occurrenceColumns,
  assigned_owner_name: 'oa.display_name',
  completed_by_name: 'oc.display_name',
  owner_at_completion_name: 'oo.display_name',
};
const OCCURRENCES = `risk_mitigation_occurrences o left join users oa on oa.id = o.assigned_owner_id
  left join users oc on oc.id = o.completed_by left join users oo on oo.id = o.owner_at_completion`;
const occurrenceJson = `json_build_object(${Object.entries(occurrenceMembers)
  .map(([name, sql]) => `'${name}', ${sql}`)
  .join(', ')})`;

export const occurrenceSorts: Record<string, SortField> = {
  sequence: { sql: 'o.sequence::bigint', type: 'bigint', immutable: true },
  due_date: { sql: 'o.due_date::text', type: 'text' },
  status: { sql: 'o.status', type: 'text', filled: true },
};

const occurrenceList: ListSpec = {
  name: 'mitigation-task-occurrences',
  from: OCCURRENCES,
  id: 'o.id',
  sorts: occurrenceSorts,
  defaultSort: 'sequence',
  members: occurrenceMembers,
};

export const taskSorts: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
  reference: { sql: 'substr(t.reference, 3)::bigint', type: 'bigint', filled: true },
  risk_reference: { sql: 'substr(r.reference, 3)::bigint', type: 'bigint', filled: true },
  title: { sql: 'fold(t.title)', type: 'text', filled: true },
  owner_name: { sql: 'lower(u.display_name)', type: 'text' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz', filled: true },
};

/** Mitigation tasks, over the aliases `t`, `r` of the risk and `u` of the owner. */
const taskList: ListSpec = {
  name: 'mitigation-tasks',
  from: 'risk_mitigation_tasks t join risks r on r.id = t.risk_id left join users u on u.id = t.owner_id',
  id: 't.id',
  sorts: taskSorts,
  defaultSort: 'created_at',
  search: `fold(t.reference || ' ' || t.title || ' ' || coalesce(t.description, ''))`,
  members: {
    ...columnMembers('t', MitigationTask),
    risk_reference: 'r.reference',
    risk_title: 'r.title',
    owner_name: 'u.display_name',
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

/** The tasks of all risks that match the filter and the search. @throws EstateError `forbidden`. */
export async function exportTasks(
  ctx: Ctx,
  { search, ...params }: ListParams & RiskFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  const where = filterConditions(ctx, params);
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
  return await readItem(sql, taskList, 'mitigation task', id);
}
