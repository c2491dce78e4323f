import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { insertRow, lockRow } from '../../kernel/events/stored-rows.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { holdCard, requireSeenCard } from '../attended.card.ts';
import { itemText, type WrittenItem } from '../items.ts';
import { requireResourceKey } from '../resource-keys.ts';
import { type DocumentRow, documentEvent } from './documents.events.ts';

/** Needed to attach links and files to a card, and to take them off. */
export const MANAGE_DOCUMENTS = { app: 'documents.manage', card: 'card.manage_documents' } as const;
/** The type of a link that was given none. */
const UNTYPED = 'link';

export interface DocumentInput {
  name: string;
  url?: string | null;
  type: string;
}

/** Links over the alias `t`. */
const documentList: ListSpec = {
  name: 'documents',
  from: 'documents t',
  id: 't.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'fold(t.name)', type: 'text' },
    type: { sql: 't.type', type: 'text' },
  },
  defaultSort: 'created_at',
  defaultDir: 'asc',
  search: "fold(t.name || ' ' || coalesce(t.url, ''))",
  members: {
    id: 't.id',
    card_id: 't.card_id',
    name: 't.name',
    url: 't.url',
    type: 't.type',
    created_by: 't.created_by',
    created_at: 'utc(t.created_at)',
  },
};

/** The links of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listDocuments(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'documents.view');
  const card = await requireSeenCard(ctx.db, ctx, cardId);
  const ofCard: Condition = { sql: 't.card_id = ?::uuid', bindings: [card.id] };
  return await runList(ctx.db, documentList, [ofCard], params, { owner: ctx.caller.userId });
}

/** Adds a link to a card. @throws EstateError `not_found`, `forbidden`, `validation_failed`. */
export async function addDocument(ctx: Ctx, cardId: string, input: DocumentInput): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await holdCard(sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    const name = input.name.trim();
    if (name === '') throw invalidField('name', 'required', 'must not be blank');
    if (input.type !== UNTYPED) await requireResourceKey(sql, 'link_type', input.type, 'type');
    const row = (await insertRow(sql, 'documents', {
      card_id: card.id,
      name,
      url: checkedUrl(input.url ?? null),
      type: input.type,
      created_by: ctx.caller.userId,
    })) as DocumentRow;
    work.emit(documentEvent(card, row));
    return { id: row.id, text: (await itemText(sql, documentList, row.id))! };
  });
}

/** Removes a link. @throws EstateError `not_found`, `forbidden`. */
export async function removeDocument(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const known = await sql('documents').where({ id }).first('card_id');
    if (!known) throw notFound('document', id);
    const card = await holdCard(sql, ctx, known.card_id).catch((error: unknown) => {
      throw error instanceof EstateError ? notFound('document', id) : error;
    });
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    const row = (await lockRow(sql, 'documents', { id: id.toLowerCase() })) as DocumentRow | undefined;
    if (!row) throw notFound('document', id);
    await sql('documents').where({ id: row.id }).delete();
    work.emit(documentEvent(card, row, true));
  });
}

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** An address that is safe to be followed. @throws EstateError `validation_failed` naming `url` for any other scheme. */
export function checkedUrl(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // what the parser strips silently (line breaks, tabs) could hide a scheme from others
  if (!url || !SCHEMES.has(url.protocol) || /[\s\p{Cc}]/u.test(text)) {
    throw invalidField('url', 'format', 'must be an address with http, https or mailto');
  }
  return text;
}
