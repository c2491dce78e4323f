import { invalidField, requireText } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/row-changes.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard } from '../../kernel/permissions/policy.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow } from '../../kernel/resources/rows.ts';
import { lockAttached, lockCard, ofVisibleCard } from '../cards.access.ts';
import { Document, type DocumentRow } from '../collaboration.model.ts';
import { attachedEvent, type EventCard, type WrittenItem } from '../items.ts';
import { requireResourceKey } from '../resource-keys.ts';

/** The right to attach links and files to a card, and to remove them. */
export const MANAGE_DOCUMENTS = { app: 'documents.manage', card: 'card.manage_documents' } as const;
/** The type of a link without a link type. */
export const UNTYPED = 'link';

export interface DocumentInput {
  name: string;
  url?: string | null;
  type: string;
}

/** The links of a card. */
export const documentList = defineList({
  name: 'documents',
  permission: 'documents.view',
  from: 'documents t',
  id: 't.id',
  sorts: {
    ...columnSorts('t', Document, 'created_at', 'type'),
    name: { sql: 'fold(t.name)', type: 'text' },
  },
  defaultSort: 'created_at',
  search: "fold(t.name || ' ' || coalesce(t.url, ''))",
  members: columnMembers('t', Document),
  where: ofVisibleCard('t.card_id'),
});

/** The event of a link: without `before` it was added, without `after` removed. */
export function documentEvent(
  card: EventCard,
  before: DocumentRow | null,
  after: DocumentRow | null,
): EventDraft {
  const { id, name, url, type } = (after ?? before)!;
  const data = { document_id: id, name, url, type };
  const verb = before === null ? 'added' : after === null ? 'removed' : 'updated';
  const summary = `The link ${name} was ${verb}`;
  return attachedEvent(`document.${verb}`, card, before, after, { ...data, summary });
}

/** Adds a link to a card. @throws EstateError `not_found`, `forbidden`, `validation_failed`. */
export async function addDocument(ctx: Ctx, cardId: string, input: DocumentInput): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(sql, ctx, cardId);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    const name = requireText(input.name, 'name');
    if (input.type !== UNTYPED) await requireResourceKey(sql, 'link_type', input.type, 'type');
    const row = await insertRow(sql, Document, {
      card_id: card.id,
      name,
      url: checkedUrl(input.url ?? null),
      type: input.type,
      created_by: ctx.caller.userId,
    });
    work.emit(documentEvent(card, null, row));
    return { id: row.id, text: (await findItem(sql, documentList, row.id))! };
  });
}

/** Changes a link. @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`. */
export async function patchDocument(ctx: Ctx, id: string, patch: Partial<DocumentInput>): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockAttached(sql, ctx, Document, 'document', id);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    if (ctx.ifMatch) checkIfMatch(ctx, (await findItem(sql, documentList, row.id))!);
    const { name, url, type } = patch;
    // a type that was disabled meanwhile may remain
    if (type !== undefined && type !== row.type && type !== UNTYPED)
      await requireResourceKey(sql, 'link_type', type, 'type');
    const values = {
      ...(name === undefined ? {} : { name: requireText(name, 'name') }),
      ...(url === undefined ? {} : { url: checkedUrl(url) }),
      ...(type === undefined ? {} : { type }),
    };
    await changeRow(work, Document, row, values, (before, after) => documentEvent(card, before, after));
    return (await findItem(sql, documentList, row.id))!;
  });
}

/** Removes a link. @throws EstateError `not_found`, `forbidden`. */
export async function removeDocument(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockAttached(sql, ctx, Document, 'document', id);
    requireOnCard(ctx, MANAGE_DOCUMENTS, card);
    await deleteRows(sql, Document, (query) => query.where({ id: row.id }));
    work.emit(documentEvent(card, row, null));
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
