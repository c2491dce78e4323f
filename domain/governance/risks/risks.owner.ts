import { closeSystemTodos, openSystemTodo, type SystemTodo } from '../../collaboration/todos/todos.system.ts';
import { RISK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import type { Work } from '../../kernel/context.ts';
import { riskLink } from './risks.events.ts';
import type { RiskRow } from './risks.model.ts';
import { isSettled } from './risks.rules.ts';

/** The to-do of the owner of a risk, which only the owner sees. */
export const ownerTodo = (risk: RiskRow): SystemTodo & { card: null } => ({
  topic: RISK_TOPIC,
  subjectId: risk.id,
  assignedTo: risk.owner_id!,
  description: `See to the risk ${risk.reference}: ${risk.title}`,
  card: null,
  dueDate: risk.target_resolution_date,
  link: riskLink(risk.id),
});

/** Updates the to-do of the owner: withdrawn from a former owner, done when the risk is settled. */
export async function settleOwner(work: Work, before: RiskRow, after: RiskRow): Promise<void> {
  const subject = { topic: RISK_TOPIC, subjectId: after.id };
  if (before.owner_id !== null && before.owner_id !== after.owner_id) {
    await closeSystemTodos(work, { ...subject, assignedTo: before.owner_id }, 'withdrawn');
  }
  if (after.owner_id === null) return;
  if (!isSettled(after.status)) await openSystemTodo(work, ownerTodo(after));
  else if (!isSettled(before.status)) await closeSystemTodos(work, subject);
}
