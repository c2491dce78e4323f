import { queryRows } from '../../../platform/database.ts';
import { openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import type { Work } from '../../kernel/context.ts';
import { deleteRows, findRows } from '../../kernel/resources/rows.ts';
import { occurrenceEvent, taskEvent } from './risks.events.ts';
import { MitigationTask, Occurrence, type OccurrenceRow, type RiskRow, type TaskRow } from './risks.model.ts';
import { closeOccurrenceTodo, occurrenceTodo } from './tasks.owner.ts';

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

/** With a risk that is closed nobody is asked to mitigate it any more; with one that is opened again they are. */
export async function settleTasks(work: Work, before: RiskRow, after: RiskRow): Promise<void> {
  if ((before.status === 'closed') === (after.status === 'closed')) return;
  const open = await queryRows<{ task: TaskRow; occurrence: OccurrenceRow }>(
    work.sql,
    `select to_jsonb(t) as task, to_jsonb(o) as occurrence
     from risk_mitigation_tasks t join risk_mitigation_occurrences o on o.task_id = t.id
     where t.risk_id = ?::uuid and o.status = 'open' and o.assigned_owner_id is not null order by o.id`,
    [after.id],
  );
  for (const { task, occurrence } of open) {
    if (after.status === 'closed') await closeOccurrenceTodo(work, occurrence, 'withdrawn');
    else await openSystemTodo(work, occurrenceTodo(task, occurrence));
  }
}
