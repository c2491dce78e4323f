import type { Knex } from 'knex';
import { inTransaction } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { insertRow, lockRow } from '../../kernel/events/stored-rows.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { requireOnCard } from '../../kernel/permissions/policy.ts';
import { moduleDisabled } from '../../kernel/settings/modules.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { holdCard } from '../attended.card.ts';
import { MANAGE_DOCUMENTS } from '../documents/documents.ts';
import { itemText, type WrittenItem } from '../items.ts';
import { requireResourceKey } from '../resource-keys.ts';
import type { CheckedFile } from './files.check.ts';
import { type AttachmentRow, fileEvent } from './files.events.ts';
import { attachmentList } from './files.list.ts';

/**
 * Whether the caller may attach files to the card at all: asked before the bytes are read, and decided when they are
 * attached.
 * @throws EstateError `not_found`, `forbidden`, `module_disabled`.
 */
export async function requireUpload(ctx: Ctx, cardId: string): Promise<void> {
  await inTransaction(ctx.db, async (sql) => {
    requireOnCard(ctx, MANAGE_DOCUMENTS, await holdCard(sql, ctx, cardId));
    await requireUploadsEnabled(sql);
  });
}

async function requireUploadsEnabled(sql: Knex.Transaction): Promise<void> {
  if (!(await readSetting(sql, 'file_uploads_enabled'))) throw moduleDisabled('file_uploads');
}

/**
 * Attaches a stored content to a card.
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
    const card = await holdCard(sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    await requireUploadsEnabled(sql);
    if (file.category !== null) await requireResourceKey(sql, 'file_category', file.category, 'category');
    await recordFile(sql, content, {
      name: file.name,
      mediaType: file.kind.mimeType,
      // it belongs to the card: who sees that opens it, nobody by owning it
      ownerId: null,
      withCosts: false,
      needs: [],
      expiresAt: null,
    });
    const row = (await insertRow(sql, 'file_attachments', {
      card_id: card.id,
      file_id: content.id,
      name: file.name,
      mime_type: file.kind.mimeType,
      size: content.size,
      category: file.category,
      created_by: ctx.caller.userId,
    })) as AttachmentRow;
    work.emit(fileEvent(card, row));
    return { id: row.id, text: (await itemText(sql, attachmentList, row.id))! };
  });
}

/**
 * Takes a file off its card. Its content is kept for the days that the settings say, so that it can be brought back.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function deleteFile(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const known = await sql('file_attachments').where({ id }).first('card_id');
    if (!known) throw notFound('file', id);
    const card = await holdCard(sql, ctx, known.card_id).catch((error: unknown) => {
      throw error instanceof EstateError ? notFound('file', id) : error;
    });
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    const row = (await lockRow(sql, 'file_attachments', { id: id.toLowerCase() })) as
      | AttachmentRow
      | undefined;
    if (!row) throw notFound('file', id);
    await sql('file_attachments').where({ id: row.id }).delete();
    await expireFiles(sql, [row.file_id]);
    work.emit(fileEvent(card, row, true));
  });
}

/** Lets the contents of deleted attachments expire after the days of the settings. */
export async function expireFiles(sql: Knex.Transaction, fileIds: string[]): Promise<void> {
  const { files_days } = await readSetting(sql, 'retention');
  await sql.raw('update files set expires_at = now() + make_interval(days => ?) where id = any(?::uuid[])', [
    files_days,
    fileIds,
  ] as never);
}
