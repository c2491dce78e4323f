import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { statusOn } from '../../collaboration/todos/todos.rules.ts';
import { openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import { occurrenceEvent, taskEvent } from './risks.events.ts';
import { checkOwner, checkTitle, lockRisk, requireOpen } from './risks.load.ts';
import { MitigationTask, Occurrence, type OccurrenceRow, type TaskRow } from './risks.model.ts';
import { withReferences } from './risks.references.ts';
import { addTask, type TaskDraft } from './tasks.add.ts';
import { taskText } from './tasks.list.ts';
import { lockPending, lockTask } from './tasks.load.ts';
import { closeOccurrenceTodo, occurrenceTodo } from './tasks.owner.ts';
import { removeTasks } from './tasks.remove.ts';
import { defaultTaskLead, seriesDay } from './tasks.rules.ts';
import { addNext, type TaskPlace } from './tasks.series.ts';

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
      const risk = await lockRisk(work, riskId);
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
    const place = await lockTask(work, ctx, id);
    const { due_date, ...values } = await checked(work, input, place.task);
    const pending = await lockPending(work, place.task);
    if (due_date !== undefined && !pending) {
      throw new EstateError('wrong_state', 'No occurrence is waited for, which could be due another day.');
    }
    const task = await storeTask(work, place, withLead(place.task, values));
    const now = { ...place, task };
    if (pending) await adjust(work, now, pending, due_date === undefined ? pending.due_date : due_date);
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

async function storeTask(
  work: Work,
  { task, cardIds }: TaskPlace,
  values: Partial<TaskRow>,
): Promise<TaskRow> {
  const changed = differing(task, values);
  if (Object.keys(changed).length === 0) return task;
  const after = await updateRow(work.sql, MitigationTask, { id: task.id }, changed);
  work.emit(taskEvent(task, after, cardIds));
  return after;
}

/** Updates the current occurrence after a change of its task. An open occurrence stays open. */
async function adjust(
  work: Work,
  { task, cardIds, today }: TaskPlace,
  pending: OccurrenceRow,
  due_date: string | null,
): Promise<void> {
  const hasCome = task.is_active && statusOn(today, due_date, task.lead_time_days) === 'open';
  const opens = pending.status === 'scheduled' && hasCome;
  const day = seriesDay(task.recurrence_unit, due_date);
  const keeps = due_date === pending.due_date && (day === null) === (pending.recurrence_day === null);
  const changed = differing(pending, {
    assigned_owner_id: task.owner_id,
    due_date,
    recurrence_day: keeps ? pending.recurrence_day : day,
    ...(opens ? { status: 'open', activated_at: new Date().toISOString() } : {}),
  });
  let after = pending;
  if (Object.keys(changed).length > 0) {
    after = await updateRow(work.sql, Occurrence, { id: pending.id }, changed);
    work.emit(occurrenceEvent(task, pending, after, cardIds));
  }
  if (pending.assigned_owner_id !== null && pending.assigned_owner_id !== after.assigned_owner_id) {
    await closeOccurrenceTodo(work, pending, 'withdrawn');
  }
  if (after.status === 'open' && after.assigned_owner_id !== null) {
    await openSystemTodo(work, occurrenceTodo(task, after));
  }
}

/** The input as it is stored. @throws EstateError `validation_failed`. */
async function checked<T extends TaskPatch>(work: Work, input: T, before: TaskRow | null): Promise<T> {
  const faults: FieldError[] = [];
  const values = { ...input };
  if (values.title !== undefined) values.title = checkTitle(values.title, faults);
  if (typeof values.owner_id === 'string') {
    values.owner_id = values.owner_id.toLowerCase();
    if (values.owner_id !== before?.owner_id) await checkOwner(work, values.owner_id, faults);
  }
  if (faults.length > 0) throw invalidFields(faults);
  return values;
}
