import type { Sql } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { seriesDay, statusOn } from '../../collaboration/todos/todos.rules.ts';
import { openNewSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { defineList, ofParent } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { inScope, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, lockItem } from '../../kernel/resources/items.ts';
import { findRows, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { riskList, SEARCH } from './risks.list.ts';
import { MitigationTask, Occurrence, type OccurrenceRow, type TaskRow } from './risks.model.ts';
import { defaultTaskLead, type OccurrenceAct, occurrenceActs } from './risks.rules.ts';
import {
  checkTitleAndOwner,
  lockRisk,
  occurrenceEvent,
  requireOpen,
  taskEvent,
  withReferences,
} from './risks.store.ts';
import {
  addNext,
  addTask,
  closeOccurrenceTodo,
  occurrenceTodo,
  readToday,
  removeTasks,
  type TaskContext,
  type TaskDraft,
} from './tasks.store.ts';

/** The number of occurrences that a task contains; a separate list has all of them. */
export const NEWEST_OCCURRENCES = 50;
const occurrenceMembers = {
  ...columnMembers('o', Occurrence.shown),
  assigned_owner_name: 'oa.display_name',
  completed_by_name: 'oc.display_name',
  owner_at_completion_name: 'oo.display_name',
};
const OCCURRENCES = `risk_mitigation_occurrences o left join users oa on oa.id = o.assigned_owner_id
  left join users oc on oc.id = o.completed_by left join users oo on oo.id = o.owner_at_completion`;
const occurrenceJson = `json_build_object(${Object.entries(occurrenceMembers)
  .map(([name, sql]) => `'${name}', ${sql}`)
  .join(', ')})`;

/** The occurrences of a task, the first one first. */
export const occurrenceList = defineList({
  name: 'mitigation-task-occurrences',
  permission: 'risks.view',
  from: OCCURRENCES,
  id: 'o.id',
  sorts: {
    sequence: { sql: 'o.sequence::bigint', type: 'bigint', immutable: true },
    ...columnSorts('o', Occurrence, 'due_date', 'status'),
  },
  defaultSort: 'sequence',
  members: occurrenceMembers,
  where: ofParent('risk_mitigation_tasks', 'mitigation task', 'o.task_id'),
});

/** The tasks of a risk. */
export const taskList = defineList({
  name: 'mitigation-tasks',
  permission: 'risks.view',
  from: 'risk_mitigation_tasks t join risks r on r.id = t.risk_id left join users u on u.id = t.owner_id',
  id: 't.id',
  sorts: {
    ...columnSorts('t', MitigationTask, 'created_at', 'updated_at'),
    reference: { sql: 'substr(t.reference, 3)::bigint', type: 'bigint', filled: true },
    risk_reference: { sql: 'substr(r.reference, 3)::bigint', type: 'bigint', filled: true },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
    owner_name: { sql: 'lower(u.display_name)', type: 'text' },
  },
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
  where: ofParent('risks', 'risk', 't.risk_id'),
});

/** The tasks of all risks that match the filters and the search of the risk register. */
export const taskExportList = defineList({
  ...taskList,
  filters: riskList.filters!,
  search: SEARCH,
  where: riskList.where!,
});

/** One task as its JSON text. @throws EstateError `not_found`. */
async function taskText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, taskList, 'mitigation task', id);
}

/**
 * A task of a risk that is not closed, locked after its risk.
 * @throws EstateError `not_found`, `precondition_failed`, `wrong_state`.
 */
async function lockTask(work: Work, ctx: Ctx, id: string): Promise<TaskContext> {
  const { sql } = work;
  const known = await sql('risk_mitigation_tasks').where({ id }).first('risk_id');
  if (!known) throw notFound('mitigation task', id);
  // an If-Match refers to the task
  const risk = await lockRisk(work, { ...ctx, ifMatch: undefined }, known.risk_id);
  const task = await lockItem(work, ctx, MitigationTask, { id }, 'mitigation task', (of) =>
    taskText(sql, of),
  );
  requireOpen(risk.row);
  return { task, cardIds: risk.cardIds, today: await readToday(sql) };
}

/** The scheduled or open occurrence of a task, locked. */
async function lockCurrent({ sql }: Work, { id }: TaskRow): Promise<OccurrenceRow | undefined> {
  const [current] = await findRows(sql, Occurrence, (query) =>
    query.where({ task_id: id }).whereIn('status', ['scheduled', 'open']).forUpdate(),
  );
  return current;
}

export interface TaskPatch extends Partial<TaskDraft> {
  is_active?: boolean;
}

/**
 * Adds a task to a risk, with its first occurrence.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `wrong_state` for a closed risk.
 */
export async function createTask(ctx: Ctx, riskId: string, input: TaskDraft): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await withReferences(() =>
    command(ctx, async (work) => {
      const risk = await lockRisk(work, ctx, riskId);
      requireOpen(risk.row);
      const draft = await checked(work, input, null);
      const task = await addTask(work, ctx, risk, { ...draft, title: draft.title! });
      return await taskText(work.sql, task.id);
    }),
  );
}

/**
 * Changes a task, and the owner and due date of its current occurrence. An active recurring task without a current occurrence
 * gets one.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `wrong_state`.
 */
export async function patchTask(ctx: Ctx, id: string, input: TaskPatch): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.manage');
  return await command(ctx, async (work) => {
    const context = await lockTask(work, ctx, id);
    const { due_date, ...values } = await checked(work, input, context.task);
    const current = await lockCurrent(work, context.task);
    if (due_date !== undefined && !current) {
      const detail = 'The task has no scheduled or open occurrence whose due date could change.';
      throw new EstateError('wrong_state', detail);
    }
    const event = (old: TaskRow | null, now: TaskRow | null) => taskEvent(old, now, context.cardIds);
    const task = await changeRow(work, MitigationTask, context.task, withLead(context.task, values), event);
    const now = { ...context, task };
    if (current) await adjust(work, now, current, due_date === undefined ? current.due_date : due_date);
    else await addNext(work, now);
    return await taskText(work.sql, task.id);
  });
}

/** Deletes a task with its occurrences. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`. */
export async function deleteTask(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'risks.manage');
  await command(ctx, async (work) => {
    const { task, cardIds } = await lockTask(work, ctx, id);
    await removeTasks(work, { id: task.id }, cardIds);
  });
}

/** The default lead time follows from the recurrence. */
function withLead(task: TaskRow, { lead_time_days: given, ...values }: TaskPatch): Partial<TaskRow> {
  const unit = values.recurrence_unit ?? task.recurrence_unit;
  const interval = values.recurrence_interval ?? task.recurrence_interval;
  const moved = unit !== task.recurrence_unit || interval !== task.recurrence_interval;
  const follows = given === null || (given === undefined && moved);
  const lead_time_days = follows ? defaultTaskLead(unit, interval) : (given ?? task.lead_time_days);
  return { ...values, lead_time_days };
}

/** Updates the current occurrence after a change of its task. An open occurrence stays open. */
async function adjust(
  work: Work,
  { task, cardIds, today }: TaskContext,
  current: OccurrenceRow,
  due_date: string | null,
): Promise<void> {
  const hasCome = task.is_active && statusOn(today, due_date, task.lead_time_days) === 'open';
  const opens = current.status === 'scheduled' && hasCome;
  const day = seriesDay(task.recurrence_unit, due_date);
  const isSameDay = due_date === current.due_date && (day === null) === (current.recurrence_day === null);
  const values: Partial<OccurrenceRow> = {
    assigned_owner_id: task.owner_id,
    due_date,
    recurrence_day: isSameDay ? current.recurrence_day : day,
    ...(opens && { status: 'open', activated_at: new Date().toISOString() }),
  };
  const after = await changeRow(work, Occurrence, current, values, (old, now) =>
    occurrenceEvent(task, old, now, cardIds),
  );
  if (current.assigned_owner_id !== null && current.assigned_owner_id !== after.assigned_owner_id) {
    await closeOccurrenceTodo(work, current, 'withdrawn');
  }
  if (after.status === 'open' && after.assigned_owner_id !== null) {
    await openSystemTodo(work, occurrenceTodo(task, after));
  }
}

/** The input as it is stored. @throws EstateError `validation_failed`. */
async function checked<T extends TaskPatch>(work: Work, input: T, before: TaskRow | null): Promise<T> {
  const errors: FieldError[] = [];
  const values = { ...input };
  await checkTitleAndOwner(work, values, before, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return values;
}

/**
 * Opens a scheduled occurrence early, or completes or skips an open one. The next occurrence of an active recurring task is
 * added then. The assigned owner may complete and skip it; others need `risks.manage`.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function actOnOccurrence(
  ctx: Ctx,
  taskId: string,
  id: string,
  act: OccurrenceAct,
  notes: string | null = null,
): Promise<JsonText> {
  requirePermission(ctx.caller, act === 'promote' ? 'risks.manage' : 'risks.view');
  return await command(ctx, async (work) => {
    const context = await lockTask(work, ctx, taskId);
    const before = await lockRow(work.sql, Occurrence, { id: id.toLowerCase(), task_id: context.task.id });
    if (!before) throw notFound('occurrence', id);
    const assigned = before.assigned_owner_id !== null && before.assigned_owner_id === ctx.caller.userId;
    if (!assigned || !inScope(ctx.caller, 'risks.manage')) requirePermission(ctx.caller, 'risks.manage');
    const { from, to } = occurrenceActs[act];
    if (before.status !== from) {
      throw new EstateError('wrong_state', `The occurrence is ${before.status}, not ${from}.`, {
        extra: { occurrence_status: before.status },
      });
    }
    const now = new Date().toISOString();
    const ended = {
      completed_at: now,
      completed_by: ctx.caller.userId,
      owner_at_completion: before.assigned_owner_id,
      completion_notes: notes,
    };
    const values = { status: to, ...(to === 'open' ? { activated_at: now } : ended) };
    const after = await updateRow(work.sql, Occurrence, { id: before.id }, values);
    work.emit(occurrenceEvent(context.task, before, after, context.cardIds));
    if (to !== 'open') {
      await closeOccurrenceTodo(work, after, 'done');
      await addNext(work, context);
    } else if (after.assigned_owner_id !== null) {
      await openNewSystemTodos(work, [occurrenceTodo(context.task, after)]);
    }
    return await taskText(work.sql, context.task.id);
  });
}
