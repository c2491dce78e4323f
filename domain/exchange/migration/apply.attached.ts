import { embed, query, type Transaction } from '../../../platform/database.ts';
import {
  Comment,
  type CommentRow,
  Document,
  type DocumentRow,
} from '../../collaboration/collaboration.model.ts';
import { commentEvent } from '../../collaboration/comments/comments.rules.ts';
import { documentEvent } from '../../collaboration/documents/documents.ts';
import type { EventCard } from '../../collaboration/items.ts';
import type { Work } from '../../kernel/context.ts';
import { insertRows } from '../../kernel/resources/rows.ts';

const PAGE = 500;

/** The record of a link or comment, with its locked card. */
interface Attachment {
  line: number;
  entity_kind: 'document' | 'comment';
  payload: Record<string, unknown>;
  id: string;
  card_id: string | null;
  /** Of a comment: its author if the account still exists. */
  author: string | null;
  /** Of a reply: the line of the record of its parent comment, and the id of that comment. */
  target_line: number | null;
  parent: string | null;
}

/**
 * Writes the next links and comments after a line, each with its event, and stores the outcomes in their records.
 * @param defaultAuthor writes comments whose authors have no account.
 * @returns the last line; undefined if there are none.
 */
export async function writeAttached(
  work: Work,
  migrationId: string,
  line: number,
  defaultAuthor: string,
): Promise<number | undefined> {
  const { sql } = work;
  const attachments = await readAttachments(sql, migrationId, line);
  if (attachments.length === 0) return undefined;
  // locked in the order of ids, so that concurrent writers cannot deadlock
  const locked = await query(sql).rows<EventCard>`select c.id, c.type, c.name from cards c
    where c.id = any(${attachments.map(({ card_id }) => card_id).filter(Boolean)}::uuid[]) order by c.id
    for key share`;
  const threads = await query(sql).rows<{ id: string }>`select id from comments
    where id = any(${attachments.map(({ parent }) => parent).filter(Boolean)}::uuid[]) and deleted_at is null
    order by id for update`;
  const hidden = new Set(work.metamodel.hiddenTypes);
  const cards = new Map(locked.filter(({ type }) => !hidden.has(type)).map((card) => [card.id, card]));
  const open = new Set(threads.map(({ id }) => id));
  const made = new Map<number, string>();
  const documents: Partial<DocumentRow>[] = [];
  const comments: Partial<CommentRow>[] = [];
  const now = new Date().toISOString();
  const outcomes = attachments.map(({ line, entity_kind, payload, id, author, target_line, ...of }) => {
    const card = cards.get(of.card_id ?? '');
    const parent_id =
      target_line === null ? null : (made.get(target_line) ?? (open.has(of.parent ?? '') && of.parent));
    if (!card || parent_id === false) {
      const message = card
        ? 'the comment that it replies to was deleted'
        : 'its card was not written or was deleted';
      return { line, status: 'error', id: null, message };
    }
    made.set(line, id);
    const own = { ...payload, id, card_id: card.id };
    if (entity_kind === 'document') documents.push({ ...own, created_by: defaultAuthor });
    else {
      const created_at = (payload.created_at as string | null) ?? now;
      const times = { created_at, updated_at: created_at };
      const place = { parent_id, thread_id: parent_id ?? id, depth: parent_id === null ? 0 : 1 };
      comments.push({ ...own, ...place, ...times, user_id: author ?? defaultAuthor });
    }
    return { line, status: 'applied', id, message: null };
  });
  for (const row of await insertRows(sql, Document, documents)) {
    work.emit(documentEvent(cards.get(row.card_id)!, null, row));
  }
  for (const row of await insertRows(sql, Comment, comments)) {
    work.emit(commentEvent(cards.get(row.card_id)!, null, row));
  }
  await query(sql).run`update migration_records r
    set status = v.status, target_id = v.id, error_message = v.message
     from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as v(line integer, status text, id uuid,
     message text)
     where r.migration_id = ${migrationId} and r.line = v.line`;
  return attachments.at(-1)!.line;
}

async function readAttachments(sql: Transaction, migrationId: string, line: number): Promise<Attachment[]> {
  return await query(sql).rows`select r.line, r.entity_kind, r.payload, uuidv7() as id,
    coalesce(r.source_card, o.target_id) as card_id,
       r.target_line, p.target_id as parent, u.id as author
     from migration_records r
     left join users u on u.id = (r.payload ->> 'user_id')::uuid
     left join migration_records o on o.migration_id = r.migration_id and o.line = r.source_line
     left join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
     where r.migration_id = ${migrationId} and r.entity_kind in ('document', 'comment')
     and r.action = 'create'
       and r.status = 'pending' and r.line > ${line}
     order by r.line limit ${embed(PAGE)}`;
}
