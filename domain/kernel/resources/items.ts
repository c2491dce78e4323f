import { notFound } from '../../../platform/errors.ts';
import { type Ctx, checkIfMatch, type Work } from '../context.ts';
import { differingMembers, type EventDraft } from '../events/row-changes.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { deleteRows, insertRow, lockRow, type RowModel, type RowOf, updateRow } from './rows.ts';

/** The event of a written row: without `before` it was created, without `after` deleted. */
type RowEvent<M extends RowModel> = (before: RowOf<M> | null, after: RowOf<M> | null) => EventDraft;

/**
 * Locks and reads a row whose representation has the ETag of the request's `If-Match`.
 * @param text reads the representation. @throws EstateError `not_found`, `precondition_failed`.
 */
export async function lockItem<M extends RowModel>(
  work: Work,
  ctx: Ctx,
  model: M,
  where: Partial<RowOf<M>> & { id: string },
  name: string,
  text: (id: string) => Promise<JsonText>,
): Promise<RowOf<M>> {
  const row = await lockRow(work.sql, model, { ...where, id: where.id.toLowerCase() });
  if (!row) throw notFound(name, where.id);
  if (ctx.ifMatch) checkIfMatch(ctx, await text(where.id));
  return row;
}

/** Inserts a row and records its event. */
export async function createRow<M extends RowModel>(
  work: Work,
  model: M,
  values: Partial<RowOf<M>>,
  event: RowEvent<M>,
): Promise<RowOf<M>> {
  const row = await insertRow(work.sql, model, values);
  work.emit(event(null, row));
  return row;
}

/** Updates the columns that differ and records an event; writes nothing if none does. @returns the row after the update. */
export async function changeRow<M extends RowModel>(
  work: Work,
  model: M,
  before: RowOf<M> & { id: string },
  values: Partial<RowOf<M>>,
  event: RowEvent<M>,
): Promise<RowOf<M>> {
  const changed = differingMembers<RowOf<M>>(before, values);
  if (Object.keys(changed).length === 0) return before;
  const after = await updateRow(work.sql, model, { id: before.id } as object as Partial<RowOf<M>>, changed);
  work.emit(event(before, after));
  return after;
}

/** Deletes a row and records its event. */
export async function removeRow<M extends RowModel>(
  work: Work,
  model: M,
  row: RowOf<M> & { id: string },
  event: RowEvent<M>,
): Promise<void> {
  await deleteRows(work.sql, model, (query) => query.where({ id: row.id }));
  work.emit(event(row, null));
}
