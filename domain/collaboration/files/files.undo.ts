import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { toldRow } from '../told.rows.ts';
import { expireFiles } from './files.attach.ts';
import { type AttachmentRow, fileEvent } from './files.events.ts';

/** Takes an uploaded file off its card again, or brings a deleted one back while its content is kept. */
async function undo({ sql, emit }: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (event.event_type === 'file.uploaded') {
    const { rows } = await sql.raw(
      'select to_jsonb(t) as row from file_attachments t where id = ? for update',
      [event.id],
    );
    const row: AttachmentRow | undefined = rows[0]?.row;
    if (!row) return null;
    await sql('file_attachments').where({ id: row.id }).delete();
    await expireFiles(sql, [row.file_id]);
    emit(fileEvent(card, row, true));
    return null;
  }
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} is gone.` };
  const told = toldRow(event, 'old') as AttachmentRow;
  const kept = await sql('files').where({ id: told.file_id }).update({ expires_at: null });
  if (kept === 0)
    return { code: 'content_purged', message: `The content of ${told.name} is no longer kept.` };
  emit(fileEvent(card, (await insertRow(sql, 'file_attachments', told)) as AttachmentRow));
  return null;
}

export const fileUndo: UndoSpec = {
  entity: 'file',
  table: 'file_attachments',
  events: { created: ['file.uploaded'], deleted: ['file.deleted'] },
  undo,
};
