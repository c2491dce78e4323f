import type { Knex } from 'knex';
import type { CommentRow, DocumentRow } from '../../collaboration/collaboration.model.ts';
import { commentEvent } from '../../collaboration/comments/comments.events.ts';
import { documentEvent } from '../../collaboration/documents/documents.events.ts';
import type { Work } from '../../kernel/context.ts';

const PAGE = 500;

/** A link or comment to be made, with its card, which is held. */
interface Attachment {
  line: number;
  entity_kind: 'document' | 'comment';
  payload: Record<string, unknown>;
  id: string;
  /** Null: it could not be written, or was deleted meanwhile. */
  card: { id: string; type: string; name: string } | null;
  /** Of a comment: its author, where the account is still there. */
  author: string | null;
  /** Of a reply: the line of the record of what it answers, and that comment. */
  target_line: number | null;
  answers: string | null;
}

/**
 * Writes the next links and comments behind the line, each with its event, and notes them at their records.
 * @param byDefault writes comments whose authors have no account.
 * @returns the last line; the same one where there are none.
 */
export async function writeAttached(
  work: Work,
  migrationId: string,
  line: number,
  byDefault: string,
): Promise<number> {
  const attachments = await attachmentsBehind(work, migrationId, line);
  if (attachments.length === 0) return line;
  const hidden = new Set(work.metamodel.hiddenTypes);
  const made = new Map(attachments.map((one) => [one.line, one.id]));
  const failed: { line: number; message: string }[] = [];
  const documents: Record<string, unknown>[] = [];
  const comments: Record<string, unknown>[] = [];
  const cards = new Map<string, NonNullable<Attachment['card']>>();
  for (const { line: own, entity_kind, payload, id, card, author, target_line, answers } of attachments) {
    const thread = target_line === null ? id : (made.get(target_line) ?? answers);
    if (!card || hidden.has(card.type) || thread === null) {
      made.delete(own);
      failed.push({ line: own, message: card ? 'what it answers is gone' : 'its card is not there' });
      continue;
    }
    cards.set(card.id, card);
    if (entity_kind === 'document')
      documents.push({ ...payload, id, card_id: card.id, created_by: byDefault });
    else {
      const parent_id = target_line === null ? null : thread;
      const { content, created_at } = payload;
      comments.push({
        ...{ id, card_id: card.id, content, user_id: author ?? byDefault, parent_id, thread_id: thread },
        ...{ depth: parent_id === null ? 0 : 1, created_at },
      });
    }
  }
  for (const row of await insertDocuments(work.sql, documents)) {
    work.emit(documentEvent(cards.get(row.card_id)!, row));
  }
  for (const row of await insertComments(work.sql, comments)) {
    work.emit(commentEvent(cards.get(row.card_id)!, null, row));
  }
  await note(work.sql, migrationId, [...made], failed);
  return attachments.at(-1)!.line;
}

async function attachmentsBehind(work: Work, migrationId: string, line: number): Promise<Attachment[]> {
  const { rows } = await work.sql.raw(
    `select r.line, r.entity_kind, r.payload, uuidv7() as id, coalesce(r.source_card, o.target_id) as card_id,
       r.target_line, p.target_id as answers, u.id as author
     from migration_records r
     left join users u on u.id = (r.payload ->> 'user_id')::uuid
     left join migration_records o on o.migration_id = r.migration_id and o.line = r.source_line
     left join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
     where r.migration_id = ? and r.entity_kind in ('document', 'comment') and r.action = 'create'
       and r.status = 'pending' and r.line > ?
     order by r.line limit ${PAGE}`,
    [migrationId, line],
  );
  // held in one order, so that others who hold several never wait for one another
  const { rows: held } = await work.sql.raw(
    `select c.id, c.type, c.name from cards c where c.id = any(?::uuid[]) order by c.id for key share`,
    [rows.map(({ card_id }: { card_id: string | null }) => card_id).filter(Boolean)],
  );
  const { rows: threads } = await work.sql.raw(
    'select id from comments where id = any(?::uuid[]) and deleted_at is null order by id for update',
    [rows.map(({ answers }: Attachment) => answers).filter(Boolean)],
  );
  const cards = new Map(held.map((card: NonNullable<Attachment['card']>) => [card.id, card]));
  const answered = new Set(threads.map(({ id }: { id: string }) => id));
  return rows.map(({ card_id, ...row }: Attachment & { card_id: string | null }) => ({
    ...row,
    card: cards.get(card_id ?? '') ?? null,
    answers: answered.has(row.answers) ? row.answers : null,
  }));
}

async function insertDocuments(sql: Knex.Transaction, rows: object[]): Promise<DocumentRow[]> {
  if (rows.length === 0) return [];
  const { rows: made } = await sql.raw(
    `insert into documents as d (id, card_id, name, url, type, created_by)
     select id, card_id, name, url, type, created_by from jsonb_to_recordset(?::jsonb)
       as v(id uuid, card_id uuid, name text, url text, type text, created_by uuid)
     returning to_jsonb(d) as row`,
    [JSON.stringify(rows)],
  );
  return made.map(({ row }: { row: DocumentRow }) => row);
}

async function insertComments(sql: Knex.Transaction, rows: object[]): Promise<CommentRow[]> {
  if (rows.length === 0) return [];
  const { rows: made } = await sql.raw(
    `insert into comments as c (id, card_id, user_id, parent_id, thread_id, depth, content, created_at, updated_at)
     select id, card_id, user_id, parent_id, thread_id, depth, content, coalesce(created_at, now()),
       coalesce(created_at, now())
     from jsonb_to_recordset(?::jsonb) as v(id uuid, card_id uuid, user_id uuid, parent_id uuid, thread_id uuid,
       depth smallint, content text, created_at timestamptz)
     returning to_jsonb(c) as row`,
    [JSON.stringify(rows)],
  );
  return made.map(({ row }: { row: CommentRow }) => row);
}

async function note(
  sql: Knex.Transaction,
  migrationId: string,
  made: [line: number, id: string][],
  failed: { line: number; message: string }[],
): Promise<void> {
  const notes = [
    ...made.map(([line, id]) => ({ line, status: 'applied', id, message: null })),
    ...failed.map(({ line, message }) => ({ line, status: 'error', id: null, message })),
  ];
  await sql.raw(
    `update migration_records r set status = v.status, target_id = v.id, error_message = v.message
     from jsonb_to_recordset(?::jsonb) as v(line integer, status text, id uuid, message text)
     where r.migration_id = ? and r.line = v.line`,
    [JSON.stringify(notes), migrationId],
  );
}
