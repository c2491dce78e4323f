import { closeSystemTodos, type SystemTodo } from '../../collaboration/todos/todos.system.ts';
import type { Work } from '../../kernel/context.ts';
import { riskLink } from './risks.events.ts';
import type { OccurrenceRow, TaskRow } from './risks.model.ts';
import { OCCURRENCE_TOPIC } from './risks.topics.ts';

/** What the owner of an open occurrence is asked to do: only the owner sees it. */
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

/** Takes the to-do of an occurrence off the list: done with it, or no longer wanted. */
export async function closeOccurrenceTodo(
  work: Work,
  occurrence: OccurrenceRow,
  how: 'done' | 'withdrawn',
): Promise<void> {
  await closeSystemTodos(work, { topic: OCCURRENCE_TOPIC, subjectId: occurrence.id }, how);
}
