import { notFound } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { lockRow } from '../../kernel/events/stored-rows.ts';
import { lockRisk, requireOpen } from './risks.load.ts';
import type { OccurrenceRow, TaskRow } from './risks.types.ts';
import { taskText } from './tasks.list.ts';
import { readToday, type TaskPlace } from './tasks.series.ts';

/**
 * A task of a risk that is not closed, locked after its risk.
 * @throws EstateError `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function lockTask(work: Work, ctx: Ctx, id: string): Promise<TaskPlace> {
  const { sql } = work;
  const known = await sql('risk_mitigation_tasks').where({ id }).first('risk_id');
  if (!known) throw notFound('mitigation task', id);
  const risk = await lockRisk(work, known.risk_id);
  const task = (await lockRow(sql, 'risk_mitigation_tasks', { id: id.toLowerCase() })) as TaskRow | undefined;
  if (!task) throw notFound('mitigation task', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await taskText(sql, task.id));
  requireOpen(risk.row);
  return { task, cardIds: risk.cardIds, today: await readToday(sql) };
}

/** The occurrence of a task that is waited for, locked. */
export async function lockPending({ sql }: Work, { id }: TaskRow): Promise<OccurrenceRow | undefined> {
  const { rows } = await sql.raw(
    `select to_jsonb(o) as row from risk_mitigation_occurrences o
     where o.task_id = ?::uuid and o.status in ('scheduled', 'open') for update`,
    [id],
  );
  return rows[0]?.row;
}
