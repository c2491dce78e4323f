import { inTransaction, query, type Transaction } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/row-changes.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard } from '../../kernel/permissions/policy.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow } from '../../kernel/resources/rows.ts';
import { moduleDisabled, readSetting } from '../../kernel/settings/settings.read.ts';
import { lockAttached, lockCard } from '../cards.access.ts';
import { type AttachmentRow, FileAttachment } from '../collaboration.model.ts';
import { MANAGE_DOCUMENTS } from '../documents/documents.ts';
import { attachedEvent, type EventCard, type WrittenItem } from '../items.ts';
import { requireResourceKey } from '../resource-keys.ts';
import type { CheckedFile } from './files.check.ts';
import { attachmentList } from './files.list.ts';

/** The event of a file of a card: without `before` it was attached, without `after` deleted. */
export function fileEvent(
  card: EventCard,
  before: AttachmentRow | null,
  after: AttachmentRow | null,
): EventDraft {
  const { name, mime_type, size, category } = (after ?? before)!;
  const verb = before === null ? 'uploaded' : after === null ? 'deleted' : 'updated';
  const summary = `The file ${name} was ${verb}`;
  return attachedEvent(`file.${verb}`, card, before, after, { name, mime_type, size, category, summary });
}

/**
 * Checks early, before the content is read, whether the caller may attach files to the card. {@link attachFile} checks again.
 * @throws EstateError `not_found`, `forbidden`, `module_disabled`.
 */
export async function requireUpload(ctx: Ctx, cardId: string): Promise<void> {
  await inTransaction(ctx.db, async (sql) => {
    requireOnCard(ctx, MANAGE_DOCUMENTS, await lockCard(sql, ctx, cardId));
    await requireUploadsEnabled(sql);
  });
}

async function requireUploadsEnabled(sql: Transaction): Promise<void> {
  if (!(await readSetting(sql, 'file_uploads_enabled'))) throw moduleDisabled('file_uploads');
}

/**
 * Attaches stored content to a card.
 * @throws EstateError `not_found`, `forbidden`, `module_disabled`, `validation_failed`.
 */
export async function attachFile(
  ctx: Ctx,
  cardId: string,
  content: StoredContent,
  file: CheckedFile & { category: string | null },
): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    await requireUploadsEnabled(sql);
    if (file.category !== null) await requireResourceKey(sql, 'file_category', file.category, 'category');
    await recordFile(sql, content, {
      name: file.name,
      mediaType: file.kind.mimeType,
      // everyone who sees the card may open it; ownership gives no access
      ownerId: null,
      withCosts: false,
      needs: [],
      expiresAt: null,
    });
    const row = await insertRow(sql, FileAttachment, {
      card_id: card.id,
      file_id: content.id,
      name: file.name,
      mime_type: file.kind.mimeType,
      size: content.size,
      category: file.category,
      created_by: ctx.caller.userId,
    });
    work.emit(fileEvent(card, null, row));
    return { id: row.id, text: (await findItem(sql, attachmentList, row.id))! };
  });
}

/**
 * Changes the category of a file.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function patchFile(
  ctx: Ctx,
  id: string,
  patch: { category?: string | null },
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockAttached(sql, ctx, FileAttachment, 'file', id);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    if (ctx.ifMatch) checkIfMatch(ctx, (await findItem(sql, attachmentList, row.id))!);
    const { category } = patch;
    if (typeof category === 'string' && category !== row.category)
      await requireResourceKey(sql, 'file_category', category, 'category');
    await changeRow(work, FileAttachment, row, patch, (before, after) => fileEvent(card, before, after));
    return (await findItem(sql, attachmentList, row.id))!;
  });
}

/**
 * Deletes a file of a card. Its content is retained as the settings say, so that the deletion can be undone.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function deleteFile(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockAttached(sql, ctx, FileAttachment, 'file', id);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    await deleteRows(sql, FileAttachment, (query) => query.where({ id: row.id }));
    await expireFiles(sql, [row.file_id]);
    work.emit(fileEvent(card, row, null));
  });
}

/** Sets the contents of deleted attachments to expire after the retention period of the settings. */
export async function expireFiles(sql: Transaction, fileIds: string[]): Promise<void> {
  const { files_days } = await readSetting(sql, 'retention');
  await query(sql).rows`update files set expires_at = now() + make_interval(days => ${files_days})
    where id = any(${fileIds}::uuid[])`;
}
