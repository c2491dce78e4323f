import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { defineRoutine } from '../../kernel/jobs/jobs.define.ts';
import { inBatches, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { TodoRow } from '../collaboration.model.ts';
import { todoEvent } from './todos.events.ts';

/** Opens the scheduled to-dos whose lead time has begun. */
export const todosDueJob = defineRoutine('todos_due');

/** To-dos that one transaction opens. */
const BATCH = 1000;

/** Opens the scheduled to-dos whose lead time has begun, in batches. @returns their number. */
export async function openDueTodos(job: RunningJob): Promise<number> {
  return await inBatches(job, 'opened', BATCH, openBatch);
}

async function openBatch(work: Work): Promise<number> {
  const opened = await query(work.sql).rows<{
    before: TodoRow;
    after: TodoRow;
    card_type: string | null;
    card_name: string | null;
  }>`with due as (
       select t.id, to_jsonb(t) as before from todos t
       where t.status = 'scheduled' and t.due_date - t.lead_time_days <= current_date
       order by t.id limit ${embed(BATCH)} for update
     )
     update todos t set status = 'open', updated_at = clock_timestamp()
     from due
     where t.id = due.id
     returning due.before, to_jsonb(t) as after,
       (select c.type from cards c where c.id = t.card_id) as card_type,
       (select c.name from cards c where c.id = t.card_id) as card_name`;
  for (const { before, after, card_type, card_name } of opened) {
    const card = after.card_id ? { id: after.card_id, type: card_type!, name: card_name! } : null;
    work.emit(todoEvent(card, before, after));
  }
  return opened.length;
}
