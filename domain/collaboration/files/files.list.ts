import { notFound } from '../../../platform/errors.ts';
import { unseenCard, visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredFile } from '../../kernel/files/files.store.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireSeenCard } from '../attended.card.ts';

/** Files of cards over the alias `t`. */
export const attachmentList: ListSpec = {
  name: 'file-attachments',
  from: 'file_attachments t left join users u on u.id = t.created_by',
  id: 't.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'fold(t.name)', type: 'text' },
    size: { sql: 't.size', type: 'bigint', immutable: true },
    category: { sql: 't.category', type: 'text' },
  },
  defaultSort: 'created_at',
  defaultDir: 'asc',
  search: 'fold(t.name)',
  members: {
    id: 't.id',
    card_id: 't.card_id',
    name: 't.name',
    mime_type: 't.mime_type',
    size: 't.size',
    category: 't.category',
    created_by: 't.created_by',
    created_by_name: 'u.display_name',
    created_at: 'utc(t.created_at)',
  },
};

/** The files of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listFiles(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'documents.view');
  const card = await requireSeenCard(ctx.db, ctx, cardId);
  const ofCard: Condition = { sql: 't.card_id = ?::uuid', bindings: [card.id] };
  return await runList(ctx.db, attachmentList, [ofCard], params, { owner: ctx.caller.userId });
}

/** The file of an attachment, to be downloaded. @throws EstateError `forbidden`, `not_found`. */
export async function attachedFile(ctx: Ctx, id: string): Promise<StoredFile> {
  requirePermission(ctx.caller, 'documents.view');
  const visible = visibleCards(ctx);
  const { rows } = await ctx.db.raw(
    `select (${visible.sql}) as seen, f.id, t.name, t.mime_type as "mediaType", f.size, f.sha256
     from file_attachments t join files f on f.id = t.file_id join cards c on c.id = t.card_id where t.id = ?::uuid`,
    [...visible.bindings, id] as never,
  );
  if (!rows[0]) throw notFound('file', id);
  const { seen, ...file } = rows[0];
  if (!seen) throw unseenCard(ctx, notFound('file', id));
  return { ...file, ownerId: null, withCosts: false, expiresAt: null };
}
