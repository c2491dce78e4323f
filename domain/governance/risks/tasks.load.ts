import { notFound } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { findRows, lockRow } from '../../kernel/resources/rows.ts';
import { lockRisk, requireOpen } from './risks.load.ts';
import { MitigationTask, Occurrence, type OccurrenceRow, type TaskRow } from './risks.model.ts';
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
  const task = await lockRow(sql, MitigationTask, { id: id.toLowerCase() });
  if (!task) throw notFound('mitigation task', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await taskText(sql, task.id));
  requireOpen(risk.row);
  return { task, cardIds: risk.cardIds, today: await readToday(sql) };
}

/** The occurrence of a task that is waited for, locked. */
export async function lockPending({ sql }: Work, { id }: TaskRow): Promise<OccurrenceRow | undefined> {
  const [pending] = await findRows(sql, Occurrence, (query) =>
    query.where({ task_id: id }).whereIn('status', ['scheduled', 'open']).forUpdate(),
  );
  return pending;
}
