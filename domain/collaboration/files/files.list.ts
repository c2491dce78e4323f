import { embed, fragment, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { invisibleCardError, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredFile } from '../../kernel/files/files.store.ts';
import { columnMembers, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { FileAttachment } from '../collaboration.model.ts';

export const fileSorts: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
  name: { sql: 'fold(t.name)', type: 'text' },
  size: { sql: 't.size', type: 'bigint', immutable: true },
  category: { sql: 't.category', type: 'text' },
};

const { file_id: _fileId, ...fileColumns } = columnMembers('t', FileAttachment);

/** Files of cards over the alias `t`. */
export const attachmentList: ListSpec = {
  name: 'file-attachments',
  from: 'file_attachments t left join users u on u.id = t.created_by',
  id: 't.id',
  sorts: fileSorts,
  defaultSort: 'created_at',
  search: 'fold(t.name)',
  members: {
    ...fileColumns,
    created_by_name: 'u.display_name',
  },
};

/** The files of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listFiles(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'documents.view');
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  const ofCard: Condition = fragment`t.card_id = ${card.id}::uuid`;
  return await runList(ctx, attachmentList, [ofCard], params);
}

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
