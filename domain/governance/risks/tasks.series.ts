import { nextDue, statusOn } from '../../collaboration/todos/todos.rules.ts';
import { openNewSystemTodos } from '../../collaboration/todos/todos.system.ts';
import type { Work } from '../../kernel/context.ts';
import { findRows, insertRow } from '../../kernel/resources/rows.ts';
import { occurrenceEvent } from './risks.events.ts';
import { Occurrence, type OccurrenceRow, type TaskRow } from './risks.model.ts';
import { occurrenceTodo } from './tasks.owner.ts';
import { seriesDay } from './tasks.rules.ts';

/** A task with what its events tell besides. */
export interface TaskPlace {
  task: TaskRow;
  cardIds: readonly string[];
  /** The database's day, `YYYY-MM-DD`. */
  today: string;
}

/** The database's day. */
export async function readToday(sql: Work['sql']): Promise<string> {
  const { rows } = await sql.raw('select current_date::text as today');
  return rows[0].today;
}

/** Stores an occurrence, open where its time has come, and asks its owner then. */
export async function addOccurrence(
  work: Work,
  { task, cardIds, today }: TaskPlace,
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
 * Adds the next occurrence of an active task that recurs, unless one is waited for. It is due an interval after the last
 * one was; where that had no date, an interval from today.
 */
export async function addNext(work: Work, place: TaskPlace): Promise<void> {
  const { task, today } = place;
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
  await addOccurrence(work, place, { sequence: last.sequence + 1, due_date, recurrence_day });
}
