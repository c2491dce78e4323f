import type { Ctx, Work } from '../../kernel/context.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { Comment, type CommentRow } from '../collaboration.model.ts';
import { eventRow } from '../event.rows.ts';
import { commentEvent } from './comments.events.ts';

/** Restores a comment. One that has replies by now is not deleted. */
export async function undoComment(
  { sql, emit }: Work,
  _ctx: Ctx,
  event: UndoneEvent,
): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} was deleted.` };
  if (event.event_type === 'comment.deleted') {
    const row = eventRow<CommentRow>(event, 'old');
    const parent = row.parent_id ? await sql('comments').where({ id: row.parent_id }).first('id') : row;
    if (!parent) return { code: 'missing_parent', message: 'The parent comment was deleted.' };
    emit(commentEvent(card, null, await insertRow(sql, Comment, row)));
    return null;
  }
  const present = await lockRow(sql, Comment, { id: event.id });
  if (!present) return null;
  if (event.event_type === 'comment.updated') {
    const { id: _, ...values } = eventRow<CommentRow>(event, 'old');
    emit(commentEvent(card, present, await updateRow(sql, Comment, { id: event.id }, values)));
    return null;
  }
  if (await sql('comments').where({ parent_id: event.id }).first('id')) {
    return { code: 'has_replies', message: 'Others have replied to the comment.' };
  }
  await deleteRows(sql, Comment, (query) => query.where({ id: event.id }));
  emit(commentEvent(card, present, null));
  return null;
}
