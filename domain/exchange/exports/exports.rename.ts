import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';

/** Stores the request of a schedule with other keys of the metamodel. @returns whether it was as expected, if that is given. */
export async function renameInSchedule(
  { sql, emit }: Work,
  id: string,
  request: unknown,
  expected?: unknown,
): Promise<boolean> {
  const before = expected === undefined ? null : JSON.stringify(expected);
  const changed = await query(sql).row<{ old: unknown }>`update extraction_schedules e
    set request = ${JSON.stringify(request)}::jsonb, updated_at = now()
    from extraction_schedules b
    where e.id = ${id}::uuid and b.id = e.id and (${before}::jsonb is null or b.request = ${before}::jsonb)
    returning b.request as old`;
  if (!changed) return false;
  const changes = { request: { old: changed.old, new: request } };
  emit({ event_type: 'extraction_schedule.renamed', data: { id, changes } });
  return true;
}

/** Undoes {@link renameInSchedule}, unless the request has changed since. */
export async function undoRename(
  work: Work,
  _ctx: Ctx,
  { id, data }: UndoneEvent,
): Promise<UndoRefusal | null> {
  const { request } = data.changes;
  const done = await renameInSchedule(work, id, request!.old, request!.new);
  return done ? null : { code: 'changed', message: 'The schedule has changed since, or does not exist.' };
}
