import { fragment } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, findItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow } from '../../kernel/resources/rows.ts';
import { lockAttached, lockCard, requireVisibleCard } from '../cards.access.ts';
import { Document } from '../collaboration.model.ts';
import type { WrittenItem } from '../items.ts';
import { requireResourceKey } from '../resource-keys.ts';
import { documentEvent } from './documents.events.ts';

/** The right to attach links and files to a card, and to remove them. */
export const MANAGE_DOCUMENTS = { app: 'documents.manage', card: 'card.manage_documents' } as const;
/** The type of a link without a link type. */
const UNTYPED = 'link';

export interface DocumentInput {
  name: string;
  url?: string | null;
  type: string;
}

export const documentSorts: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
  name: { sql: 'fold(t.name)', type: 'text' },
  type: { sql: 't.type', type: 'text' },
};

/** Links over the alias `t`. */
const documentList: ListSpec = {
  name: 'documents',
  from: 'documents t',
  id: 't.id',
  sorts: documentSorts,
  defaultSort: 'created_at',
  search: "fold(t.name || ' ' || coalesce(t.url, ''))",
  members: columnMembers('t', Document),
};

/** The links of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listDocuments(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'documents.view');
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  const ofCard: Condition = fragment`t.card_id = ${card.id}::uuid`;
  return await runList(ctx, documentList, [ofCard], params);
}

/** Adds a link to a card. @throws EstateError `not_found`, `forbidden`, `validation_failed`. */
export async function addDocument(ctx: Ctx, cardId: string, input: DocumentInput): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    const name = input.name.trim();
    if (name === '') throw invalidField('name', 'required', 'must not be blank');
    if (input.type !== UNTYPED) await requireResourceKey(sql, 'link_type', input.type, 'type');
    const row = await insertRow(sql, Document, {
      card_id: card.id,
      name,
      url: checkedUrl(input.url ?? null),
      type: input.type,
      created_by: ctx.caller.userId,
    });
    work.emit(documentEvent(card, row));
    return { id: row.id, text: (await findItem(sql, documentList, row.id))! };
  });
}

/** Removes a link. @throws EstateError `not_found`, `forbidden`. */
export async function removeDocument(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockAttached(sql, ctx, Document, 'document', id);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    await deleteRows(sql, Document, (query) => query.where({ id: row.id }));
    work.emit(documentEvent(card, row, true));
  });
}

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** An address that is safe to follow. @throws EstateError `validation_failed` naming `url` for any other scheme. */
export function checkedUrl(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // the parser ignores line breaks and tabs, which could hide a scheme from other parsers
  if (!url || !SCHEMES.has(url.protocol) || /[\s\p{Cc}]/u.test(text)) {
    throw invalidField('url', 'format', 'must be an address with http, https or mailto');
  }
  return text;
}
