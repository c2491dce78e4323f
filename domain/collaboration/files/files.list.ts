import { embed, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { invisibleCardError, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredFile } from '../../kernel/files/files.store.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../kernel/lists/lists.run.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { ofVisibleCard } from '../cards.access.ts';
import { FileAttachment } from '../collaboration.model.ts';

/** The files of a card. */
export const attachmentList = defineList({
  name: 'file-attachments',
  permission: 'documents.view',
  from: 'file_attachments t left join users u on u.id = t.created_by',
  id: 't.id',
  sorts: {
    ...columnSorts('t', FileAttachment, 'created_at', 'category'),
    name: { sql: 'fold(t.name)', type: 'text' },
    size: { sql: 't.size', type: 'bigint', immutable: true },
  },
  defaultSort: 'created_at',
  search: 'fold(t.name)',
  members: {
    ...columnMembers('t', FileAttachment.shown),
    created_by_name: 'u.display_name',
  },
  where: ofVisibleCard('t.card_id'),
});

/** The file of an attachment, to be downloaded. @throws EstateError `forbidden`, `not_found`. */
export async function attachedFile(ctx: Ctx, id: string): Promise<StoredFile> {
  requirePermission(ctx.caller, 'documents.view');
  const visible = visibleCards(ctx);
  const [found] = await query(ctx.db).rows<
    Pick<StoredFile, 'id' | 'name' | 'mediaType' | 'size' | 'sha256'> & { isVisible: boolean }
  >`select (${embed(visible)}) as "isVisible", f.id, t.name, t.mime_type as "mediaType", f.size, f.sha256
     from file_attachments t join files f on f.id = t.file_id join cards c on c.id = t.card_id
     where t.id = ${id}::uuid`;
  if (!found) throw notFound('file', id);
  const { isVisible, ...file } = found;
  if (!isVisible) throw invisibleCardError(ctx, notFound('file', id));
  return { ...file, ownerId: null, withCosts: false, needs: [], expiresAt: null };
}
