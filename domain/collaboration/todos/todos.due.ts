import type { Work } from '../../kernel/context.ts';
import { inBatches } from '../../kernel/jobs/jobs.batches.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { type TodoRow, todoEvent } from './todos.events.ts';

/** To-dos opened by one transaction. */
const BATCH = 1000;

/** Opens, batch by batch, the scheduled to-dos whose time has come; run again it finds none. @returns how many. */
export async function openDueTodos(job: RunningJob): Promise<number> {
  return await inBatches(job, 'opened', BATCH, openBatch);
}

async function openBatch(work: Work): Promise<number> {
  const { rows } = await work.sql.raw(
    `with due as (
       select t.id, to_jsonb(t) as before from todos t
       where t.status = 'scheduled' and t.due_date - t.lead_time_days <= current_date
       order by t.id limit ${BATCH} for update
     )
     update todos t set status = 'open', updated_at = clock_timestamp()
     from due
     where t.id = due.id
     returning due.before, to_jsonb(t) as after,
       (select c.type from cards c where c.id = t.card_id) as card_type,
       (select c.name from cards c where c.id = t.card_id) as card_name`,
  );
  for (const { before, after, card_type, card_name } of rows as {
    before: TodoRow;
    after: TodoRow;
    card_type: string | null;
    card_name: string | null;
  }[]) {
    const card = after.card_id ? { id: after.card_id, type: card_type!, name: card_name! } : null;
    work.emit(todoEvent(card, before, after));
  }
  return rows.length;
}
