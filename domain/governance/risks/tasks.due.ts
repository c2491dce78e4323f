import { queryRows } from '../../../platform/database.ts';
import { openNewSystemTodos } from '../../collaboration/todos/todos.system.ts';
import type { Work } from '../../kernel/context.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { inBatches } from '../../kernel/jobs/jobs.running.ts';
import { occurrenceEvent } from './risks.events.ts';
import type { OccurrenceRow, TaskRow } from './risks.model.ts';
import { occurrenceTodo } from './tasks.owner.ts';

/** Occurrences that one transaction opens. */
const BATCH = 1000;

/**
 * Opens, batch by batch, the occurrences that have come within their task's lead time by the database's day, and asks their
 * owners. Those of inactive tasks and of closed risks wait. Run again it finds none.
 * @returns how many.
 */
export async function openDueOccurrences(job: RunningJob): Promise<number> {
  return await inBatches(job, 'opened', BATCH, openBatch);
}

async function openBatch(work: Work): Promise<number> {
  const opened = await queryRows<{
    before: OccurrenceRow;
    after: OccurrenceRow;
    task: TaskRow;
    cardIds: string[];
  }>(
    work.sql,
    `with due as (
       select o.id, to_jsonb(o) as before, to_jsonb(t) as task,
         array(select k.card_id from risk_cards k where k.risk_id = t.risk_id order by k.id) as "cardIds"
       from risk_mitigation_occurrences o join risk_mitigation_tasks t on t.id = o.task_id
         join risks r on r.id = t.risk_id
       where o.status = 'scheduled' and o.due_date - t.lead_time_days <= current_date and t.is_active
         and r.status <> 'closed'
       order by o.id limit ${BATCH} for update of o
     )
     update risk_mitigation_occurrences o set status = 'open', activated_at = clock_timestamp(),
       updated_at = clock_timestamp()
     from due where o.id = due.id
     returning due.before, due.task, due."cardIds", to_jsonb(o) as after`,
  );
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
