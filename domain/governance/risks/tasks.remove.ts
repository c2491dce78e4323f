import { openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import type { Work } from '../../kernel/context.ts';
import { occurrenceEvent, taskEvent } from './risks.events.ts';
import type { OccurrenceRow, RiskRow, TaskRow } from './risks.types.ts';
import { closeOccurrenceTodo, occurrenceTodo } from './tasks.owner.ts';

/** Deletes one task, or those of a risk, with their occurrences and to-dos. The risk must be locked. */
export async function removeTasks(
  work: Work,
  which: { id: string } | { risk_id: string },
  cardIds: readonly string[],
): Promise<void> {
  const { sql } = work;
  const tasks: TaskRow[] = (
    await sql.raw(
      `select to_jsonb(t) as row from risk_mitigation_tasks t where ${'id' in which ? 't.id' : 't.risk_id'} = ?::uuid
       order by t.id for update`,
      ['id' in which ? which.id : which.risk_id],
    )
  ).rows.map(({ row }: { row: TaskRow }) => row);
  if (tasks.length === 0) return;
  const ids = tasks.map(({ id }) => id);
  const { rows } = await sql.raw(
    `delete from risk_mitigation_occurrences o where o.task_id = any(?::uuid[]) returning to_jsonb(o) as row`,
    [ids],
  );
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const { row } of rows as { row: OccurrenceRow }[]) {
    if (row.status === 'open') await closeOccurrenceTodo(work, row, 'withdrawn');
    work.emit(occurrenceEvent(byId.get(row.task_id)!, row, null, cardIds));
  }
  await sql('risk_mitigation_tasks').whereIn('id', ids).delete();
  for (const task of tasks) work.emit(taskEvent(task, null, cardIds));
}

/** With a risk that is closed nobody is asked to mitigate it any more; with one that is opened again they are. */
export async function settleTasks(work: Work, before: RiskRow, after: RiskRow): Promise<void> {
  if ((before.status === 'closed') === (after.status === 'closed')) return;
  const { rows } = await work.sql.raw(
    `select to_jsonb(t) as task, to_jsonb(o) as occurrence
     from risk_mitigation_tasks t join risk_mitigation_occurrences o on o.task_id = t.id
     where t.risk_id = ?::uuid and o.status = 'open' and o.assigned_owner_id is not null order by o.id`,
    [after.id],
  );
  for (const { task, occurrence } of rows as { task: TaskRow; occurrence: OccurrenceRow }[]) {
    if (after.status === 'closed') await closeOccurrenceTodo(work, occurrence, 'withdrawn');
    else await openSystemTodo(work, occurrenceTodo(task, occurrence));
  }
}
