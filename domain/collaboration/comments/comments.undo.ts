import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { toldRow } from '../told.rows.ts';
import { type CommentRow, commentEvent } from './comments.events.ts';

/** Brings a comment back to what it was. One that others have answered meanwhile stays, since their words hang on it. */
async function undo({ sql, emit }: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} is gone.` };
  if (event.event_type === 'comment.deleted') {
    const told = toldRow(event, 'old') as CommentRow;
    const parent = told.parent_id ? await sql('comments').where({ id: told.parent_id }).first('id') : told;
    if (!parent) return { code: 'missing_parent', message: 'The comment that it answered is gone.' };
    emit(commentEvent(card, null, (await insertRow(sql, 'comments', told)) as CommentRow));
    return null;
  }
  const present = (await lockRow(sql, 'comments', { id: event.id })) as CommentRow | undefined;
  if (!present) return null;
  if (event.event_type === 'comment.updated') {
    const { id: _, ...values } = toldRow(event, 'old');
    const after = await updateRow(sql, 'comments', { column: 'id', value: event.id }, values);
    emit(commentEvent(card, present, after as CommentRow));
    return null;
  }
  if (await sql('comments').where({ parent_id: event.id }).first('id')) {
    return { code: 'has_replies', message: 'Others have answered the comment.' };
  }
  await sql('comments').where({ id: event.id }).delete();
  emit(commentEvent(card, present, null));
  return null;
}

export const commentUndo: UndoSpec = {
  entity: 'comment',
  table: 'comments',
  events: { created: ['comment.created'], updated: ['comment.updated'], deleted: ['comment.deleted'] },
  undo,
};
