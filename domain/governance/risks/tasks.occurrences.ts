import { EstateError, notFound } from '../../../platform/errors.ts';
import { openNewSystemTodos } from '../../collaboration/todos/todos.system.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { inScope, requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { occurrenceEvent } from './risks.events.ts';
import { Occurrence } from './risks.model.ts';
import { taskText } from './tasks.list.ts';
import { lockTask } from './tasks.load.ts';
import { closeOccurrenceTodo, occurrenceTodo } from './tasks.owner.ts';
import { type OccurrenceAct, occurrenceActs } from './tasks.rules.ts';
import { addNext } from './tasks.series.ts';

/**
 * Opens an occurrence before its time, or ends one that is open: done, or skipped. After its end the next one of an active
 * task that recurs is added. The one to whom it is assigned may end it, others need `risks.manage`.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function actOnOccurrence(
  ctx: Ctx,
  taskId: string,
  id: string,
  act: OccurrenceAct,
  notes: string | null = null,
): Promise<JsonText> {
  requirePermission(ctx.caller, act === 'promote' ? 'risks.manage' : 'risks.view');
  return await command(ctx, async (work) => {
    const place = await lockTask(work, ctx, taskId);
    const before = await lockRow(work.sql, Occurrence, { id: id.toLowerCase(), task_id: place.task.id });
    if (!before) throw notFound('occurrence', id);
    const assigned = before.assigned_owner_id !== null && before.assigned_owner_id === ctx.caller.userId;
    if (!assigned || !inScope(ctx.caller, 'risks.manage')) requirePermission(ctx.caller, 'risks.manage');
    const { from, to } = occurrenceActs[act];
    if (before.status !== from) {
      throw new EstateError('wrong_state', `The occurrence is ${before.status}, not ${from}.`, {
        extra: { occurrence_status: before.status },
      });
    }
    const now = new Date().toISOString();
    const ended = {
      completed_at: now,
      completed_by: ctx.caller.userId,
      owner_at_completion: before.assigned_owner_id,
      completion_notes: notes,
    };
    const after = await updateRow(
      work.sql,
      Occurrence,
      { id: before.id },
      { status: to, ...(to === 'open' ? { activated_at: now } : ended) },
    );
    work.emit(occurrenceEvent(place.task, before, after, place.cardIds));
    if (to !== 'open') {
      await closeOccurrenceTodo(work, after, 'done');
      await addNext(work, place);
    } else if (after.assigned_owner_id !== null) {
      await openNewSystemTodos(work, [occurrenceTodo(place.task, after)]);
    }
    return await taskText(work.sql, place.task.id);
  });
}
