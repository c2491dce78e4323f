import { queryRows } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { occurrenceEvent, riskEvent, taskEvent } from './risks.events.ts';
import type { OccurrenceRow, RiskRow, TaskRow } from './risks.model.ts';

const cardsOf = (risk: string) =>
  `array(select k.card_id from risk_cards k where k.risk_id = ${risk} order by k.id) as "cardIds"`;

/** Removes deleted users as owners of risks, tasks and open occurrences; completed occurrences retain them. */
export async function disownRisks(work: Work, userIds: readonly string[]): Promise<void> {
  const { sql } = work;
  const risks = await queryRows<Disowned<RiskRow>>(
    sql,
    `update risks r set owner_id = null, updated_at = clock_timestamp() where r.owner_id = any(?::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, ${cardsOf('new.id')}`,
    [userIds],
  );
  for (const { before, after, cardIds } of risks) {
    work.emit(riskEvent(before, after, cardIds));
  }
  const tasks = await queryRows<Disowned<TaskRow>>(
    sql,
    `update risk_mitigation_tasks t set owner_id = null, updated_at = clock_timestamp()
     where t.owner_id = any(?::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, ${cardsOf('new.risk_id')}`,
    [userIds],
  );
  for (const { before, after, cardIds } of tasks) {
    work.emit(taskEvent(before, after, cardIds));
  }
  const occurrences = await queryRows<Disowned<OccurrenceRow> & { task: TaskRow }>(
    sql,
    `update risk_mitigation_occurrences o set assigned_owner_id = null, updated_at = clock_timestamp()
     from risk_mitigation_tasks t
     where t.id = o.task_id and o.status in ('scheduled', 'open') and o.assigned_owner_id = any(?::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, to_jsonb(t) as task, ${cardsOf('t.risk_id')}`,
    [userIds],
  );
  for (const { before, after, cardIds, task } of occurrences) {
    work.emit(occurrenceEvent(task, before, after, cardIds));
  }
}

interface Disowned<R> {
  before: R;
  after: R;
  cardIds: string[];
}
