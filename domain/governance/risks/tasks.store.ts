import { embed, query } from '../../../platform/database.ts';
import { nextDue, seriesDay, statusOn } from '../../collaboration/todos/todos.rules.ts';
import {
  closeSystemTodos,
  openNewSystemTodos,
  openSystemTodo,
  type SystemTodo,
} from '../../collaboration/todos/todos.system.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { defineRoutine } from '../../kernel/jobs/jobs.define.ts';
import { inBatches, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { deleteRows, findRows, insertRow } from '../../kernel/resources/rows.ts';
import {
  MitigationTask,
  OCCURRENCE_TOPIC,
  Occurrence,
  type OccurrenceRow,
  type RiskRow,
  type TaskRow,
} from './risks.model.ts';
import { defaultTaskLead } from './risks.rules.ts';
import { type LoadedRisk, nextReferences, occurrenceEvent, riskLink, taskEvent } from './risks.store.ts';

/** The to-do of the owner of an open occurrence, which is only visible to the owner. */
export const occurrenceTodo = (
  task: Pick<TaskRow, 'reference' | 'title' | 'risk_id'>,
  occurrence: OccurrenceRow,
): SystemTodo & { card: null } => ({
  topic: OCCURRENCE_TOPIC,
  subjectId: occurrence.id,
  assignedTo: occurrence.assigned_owner_id!,
  description: `Mitigate a risk (${task.reference}): ${task.title}`,
  card: null,
  dueDate: occurrence.due_date,
  link: riskLink(task.risk_id),
});

/** Closes the to-do of an occurrence. */
export async function closeOccurrenceTodo(
  work: Work,
  occurrence: OccurrenceRow,
  how: 'done' | 'withdrawn',
): Promise<void> {
  await closeSystemTodos(work, { topic: OCCURRENCE_TOPIC, subjectId: occurrence.id }, how);
}

/** A task with the context that its writes need. */
export interface TaskContext {
  task: TaskRow;
  cardIds: readonly string[];
  /** The database's day, `YYYY-MM-DD`. */
  today: string;
}

/** The database's day. */
export async function readToday(sql: Work['sql']): Promise<string> {
  return await query(sql).value`select current_date::text as today`;
}

/** Inserts an occurrence: open within the lead time, with a to-do for its owner; scheduled otherwise. */
async function addOccurrence(
  work: Work,
  { task, cardIds, today }: TaskContext,
  values: Pick<OccurrenceRow, 'sequence' | 'due_date' | 'recurrence_day'>,
): Promise<void> {
  const status = statusOn(today, values.due_date, task.lead_time_days);
  const row = await insertRow(work.sql, Occurrence, {
    ...values,
    task_id: task.id,
    assigned_owner_id: task.owner_id,
    status,
    activated_at: status === 'open' ? new Date().toISOString() : null,
  });
  work.emit(occurrenceEvent(task, null, row, cardIds));
  if (status === 'open' && row.assigned_owner_id !== null) {
    await openNewSystemTodos(work, [occurrenceTodo(task, row)]);
  }
}

/**
 * Adds the next occurrence of an active recurring task, unless one is scheduled or open. It is due one interval after
 * the last one; if that had no date, one interval from today.
 */
export async function addNext(work: Work, context: TaskContext): Promise<void> {
  const { task, today } = context;
  const { recurrence_unit: unit, recurrence_interval: interval } = task;
  if (!task.is_active || unit === 'none') return;
  const [last] = await findRows(work.sql, Occurrence, (query) =>
    query.where({ task_id: task.id }).orderBy('sequence', 'desc').limit(1),
  );
  if (!last || last.status === 'scheduled' || last.status === 'open') return;
  const due_date = nextDue(last.due_date ?? today, { unit, interval }, last.recurrence_day ?? undefined);
  // the calendar ends with the year 9999
  if (due_date === null) return;
  const recurrence_day = last.recurrence_day ?? seriesDay(unit, last.due_date ?? due_date);
  await addOccurrence(work, context, { sequence: last.sequence + 1, due_date, recurrence_day });
}

/** The checked values of a new task; `due_date` is that of its first occurrence. */
export interface TaskDraft
  extends Partial<
    Pick<TaskRow, 'description' | 'owner_id' | 'recurrence_unit' | 'recurrence_interval'> & {
      lead_time_days: number | null;
      due_date: string | null;
    }
  > {
  title: string;
}

/** Stores a task of a risk with its first occurrence. */
export async function addTask(work: Work, ctx: Ctx, risk: LoadedRisk, draft: TaskDraft): Promise<TaskRow> {
  const { due_date = null, lead_time_days, ...values } = draft;
  const unit = values.recurrence_unit ?? 'none';
  const interval = values.recurrence_interval ?? 1;
  const [reference] = await nextReferences(work, 'T', 1);
  const task = await insertRow(work.sql, MitigationTask, {
    ...values,
    recurrence_unit: unit,
    recurrence_interval: interval,
    reference: reference!,
    risk_id: risk.row.id,
    lead_time_days: lead_time_days ?? defaultTaskLead(unit, interval),
    is_active: true,
    created_by: ctx.caller.userId,
  });
  const { cardIds } = risk;
  work.emit(taskEvent(null, task, cardIds));
  const context = { task, cardIds, today: await readToday(work.sql) };
  await addOccurrence(work, context, { sequence: 1, due_date, recurrence_day: seriesDay(unit, due_date) });
  return task;
}

/** Deletes one task, or those of a risk, with their occurrences and to-dos. The risk must be locked. */
export async function removeTasks(
  work: Work,
  which: { id: string } | { risk_id: string },
  cardIds: readonly string[],
): Promise<void> {
  const { sql } = work;
  const tasks = await findRows(sql, MitigationTask, (query) => query.where(which).orderBy('id').forUpdate());
  if (tasks.length === 0) return;
  const ids = tasks.map(({ id }) => id);
  const occurrences = await deleteRows(sql, Occurrence, (query) => query.whereIn('task_id', ids));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const row of occurrences) {
    if (row.status === 'open') await closeOccurrenceTodo(work, row, 'withdrawn');
    work.emit(occurrenceEvent(byId.get(row.task_id)!, row, null, cardIds));
  }
  await deleteRows(sql, MitigationTask, (query) => query.whereIn('id', ids));
  for (const task of tasks) work.emit(taskEvent(task, null, cardIds));
}

/** Withdraws the to-dos of open occurrences when their risk is closed, and opens them when it is reopened. */
export async function updateTaskTodos(work: Work, before: RiskRow, after: RiskRow): Promise<void> {
  if ((before.status === 'closed') === (after.status === 'closed')) return;
  const open = await query(work.sql).rows<{ task: TaskRow; occurrence: OccurrenceRow }>`
       select to_jsonb(t) as task, to_jsonb(o) as occurrence
     from risk_mitigation_tasks t join risk_mitigation_occurrences o on o.task_id = t.id
     where t.risk_id = ${after.id}::uuid and o.status = 'open' and o.assigned_owner_id is not null
     order by o.id`;
  for (const { task, occurrence } of open) {
    if (after.status === 'closed') await closeOccurrenceTodo(work, occurrence, 'withdrawn');
    else await openSystemTodo(work, occurrenceTodo(task, occurrence));
  }
}

/** Maximum occurrences that one transaction opens. */
const BATCH = 1000;

/**
 * Opens, in batches, the occurrences that have come within their task's lead time by the database's day, and creates
 * to-dos for their owners. Those of inactive tasks and of closed risks remain scheduled. Repeated runs find nothing to
 * do.
 * @returns the number of opened occurrences.
 */
export async function openDueOccurrences(job: RunningJob): Promise<number> {
  return await inBatches(job, 'opened', BATCH, openBatch);
}

async function openBatch(work: Work): Promise<number> {
  const opened = await query(work.sql).rows<{
    before: OccurrenceRow;
    after: OccurrenceRow;
    task: TaskRow;
    cardIds: string[];
  }>`with due as (
       select o.id, to_jsonb(o) as before, to_jsonb(t) as task,
         array(select k.card_id from risk_cards k where k.risk_id = t.risk_id order by k.id) as "cardIds"
       from risk_mitigation_occurrences o join risk_mitigation_tasks t on t.id = o.task_id
         join risks r on r.id = t.risk_id
       where o.status = 'scheduled' and o.due_date - t.lead_time_days <= current_date and t.is_active
         and r.status <> 'closed'
       order by o.id limit ${embed(BATCH)} for update of o
     )
     update risk_mitigation_occurrences o set status = 'open', activated_at = clock_timestamp(),
       updated_at = clock_timestamp()
     from due where o.id = due.id
     returning due.before, due.task, due."cardIds", to_jsonb(o) as after`;
  for (const { task, before, after, cardIds } of opened) {
    work.emit(occurrenceEvent(task, before, after, cardIds));
  }
  await openNewSystemTodos(
    work,
    opened
      .filter(({ after }) => after.assigned_owner_id !== null)
      .map(({ task, after }) => occurrenceTodo(task, after)),
  );
  return opened.length;
}

/** Opens the scheduled occurrences of mitigation tasks whose lead time has begun. */
export const mitigationsDueJob = defineRoutine('mitigations_due');
