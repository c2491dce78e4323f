import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { taskEvent } from './risks.events.ts';
import type { LoadedRisk } from './risks.load.ts';
import { MitigationTask, type TaskRow } from './risks.model.ts';
import { nextReferences } from './risks.references.ts';
import { defaultTaskLead, seriesDay } from './tasks.rules.ts';
import { addOccurrence, readToday } from './tasks.series.ts';

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
  const place = { task, cardIds, today: await readToday(work.sql) };
  await addOccurrence(work, place, { sequence: 1, due_date, recurrence_day: seriesDay(unit, due_date) });
  return task;
}
