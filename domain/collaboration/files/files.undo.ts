import type { Ctx, Work } from '../../kernel/context.ts';
import { deleteRows, insertRow, lockRow } from '../../kernel/resources/rows.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { type AttachmentRow, FileAttachment } from '../collaboration.model.ts';
import { eventRow } from '../event.rows.ts';
import { expireFiles } from './files.attach.ts';
import { fileEvent } from './files.events.ts';

/** Deletes an uploaded file, or restores a deleted one while its content is retained. */
export async function undoFile(
  { sql, emit }: Work,
  _ctx: Ctx,
  event: UndoneEvent,
): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (event.event_type === 'file.uploaded') {
    const row = await lockRow(sql, FileAttachment, { id: event.id });
    if (!row) return null;
    await deleteRows(sql, FileAttachment, (query) => query.where({ id: row.id }));
    await expireFiles(sql, [row.file_id]);
    emit(fileEvent(card, row, true));
    return null;
  }
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} was deleted.` };
  const row = eventRow<AttachmentRow>(event, 'old');
  const retained = await sql('files').where({ id: row.file_id }).update({ expires_at: null });
  if (retained === 0) {
    return { code: 'content_purged', message: `The content of ${row.name} is no longer retained.` };
  }
  emit(fileEvent(card, await insertRow(sql, FileAttachment, row)));
  return null;
}
