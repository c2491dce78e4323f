import { query, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, inScope, mayOnCard, requireOnCard } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { type CardWithAccess, lockCard, lockCardOf } from '../cards.access.ts';
import { Comment, type CommentRow, MAX_DEPTH } from '../collaboration.model.ts';
import { newId, type WrittenItem } from '../items.ts';
import { commentList } from './comments.list.ts';
import { commentEvent, MAX_MENTIONS, MAX_THREAD, mentionedIds } from './comments.rules.ts';

const CREATE = { app: 'comments.create', card: 'card.create_comments' } as const;
const MANAGE = { app: 'comments.manage', card: 'card.manage_comments' } as const;

/**
 * Comments on a card, or replies to a comment on it.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`, `thread_full`.
 */
export async function createComment(
  ctx: Ctx,
  cardId: string,
  input: { content: string; parent_id?: string | null },
): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(sql, ctx, cardId);
    requireOnCard(ctx, CREATE, card);
    const content = requireContent(input.content);
    const id = await newId(sql);
    const parent = input.parent_id == null ? null : await requireParent(sql, card, input.parent_id);
    const row = await insertRow(sql, Comment, {
      id,
      card_id: card.id,
      user_id: ctx.caller.userId!,
      parent_id: parent?.id ?? null,
      thread_id: parent?.thread_id ?? id,
      depth: parent ? parent.depth + 1 : 0,
      content,
      mentions: await mentionedUsers(sql, content),
    });
    work.emit(commentEvent(card, null, row));
    return { id, text: (await findItem(sql, commentList, id))! };
  });
}

/**
 * Changes the text of an own comment, or of any with the right to manage them.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function editComment(ctx: Ctx, id: string, input: { content?: string }): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { card, row } = await lockComment(work, ctx, id);
    const content = input.content === undefined ? row.content : requireContent(input.content);
    if (content !== row.content) {
      const mentions = await mentionedUsers(work.sql, content);
      const after = await updateRow(work.sql, Comment, { id: row.id }, { content, mentions });
      work.emit(commentEvent(card, row, after));
    }
    return (await findItem(work.sql, commentList, row.id))!;
  });
}

/**
 * Deletes an own comment, or any with the right to manage them. A comment with replies is emptied and marked as
 * deleted; deleting its last reply deletes it, too.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`.
 */
export async function deleteComment(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const { card, row } = await lockComment(work, ctx, id);
    if (await hasReplies(sql, row.id)) {
      const emptied = { content: '', mentions: [], deleted_at: new Date().toISOString() };
      work.emit(commentEvent(card, row, await updateRow(sql, Comment, { id: row.id }, emptied)));
      return;
    }
    for (let gone: CommentRow | undefined = row; gone; ) {
      const { id, parent_id }: CommentRow = gone;
      await deleteRows(sql, Comment, (query) => query.where({ id }));
      work.emit(commentEvent(card, gone, null));
      const parent: CommentRow | undefined = parent_id
        ? await lockRow(sql, Comment, { id: parent_id })
        : undefined;
      gone = parent?.deleted_at && !(await hasReplies(sql, parent.id)) ? parent : undefined;
    }
  });
}

/** A comment that the caller may change, with its thread locked. */
async function lockComment(
  work: Work,
  ctx: Ctx,
  id: string,
): Promise<{ card: CardWithAccess; row: CommentRow }> {
  const { sql } = work;
  const known = await sql('comments').where({ id }).first('id', 'card_id', 'thread_id');
  if (!known) throw notFound('comment', id);
  const card = await lockCardOf(sql, ctx, 'comment', known);
  await lockThread(sql, known.thread_id);
  const row = await lockRow(sql, Comment, { id: known.id });
  if (!row || row.deleted_at) throw notFound('comment', id);
  const own = row.user_id === ctx.caller.userId && inScope(ctx.caller, CREATE.app);
  if (!own && !mayOnCard(ctx, MANAGE, card)) throw forbidden(MANAGE.app);
  if (ctx.ifMatch) checkIfMatch(ctx, (await findItem(sql, commentList, row.id))!);
  return { card, row };
}

/** Serialises replies and deletions in a thread, so that no reply loses its parent. */
async function lockThread(sql: Transaction, threadId: string): Promise<void> {
  await query(sql).run`select from comments where id = ${threadId} for update`;
}

async function requireParent(sql: Transaction, card: CardWithAccess, id: string): Promise<CommentRow> {
  const known = await sql('comments').where({ id, card_id: card.id }).first('thread_id');
  if (known) await lockThread(sql, known.thread_id);
  const parent = known && (await lockRow(sql, Comment, { id: id.toLowerCase() }));
  if (!parent || parent.deleted_at) {
    throw invalidField('parent_id', 'unknown_value', 'is not a comment on this card');
  }
  if (parent.depth >= MAX_DEPTH) {
    const message = `is at the maximum depth of ${MAX_DEPTH} replies; reply further up`;
    throw invalidField('parent_id', 'too_deep', message);
  }
  const [thread] = await query(sql).rows<{ size: number }>`select count(*)::int as size from comments
    where thread_id = ${parent.thread_id}`;
  if (thread!.size >= MAX_THREAD) {
    throw new EstateError('thread_full', `A thread has at most ${MAX_THREAD} comments; start another one.`);
  }
  return parent;
}

async function hasReplies(sql: Transaction, id: string): Promise<boolean> {
  return (await sql('comments').where({ parent_id: id }).first('id')) !== undefined;
}

function requireContent(content: string): string {
  if (content.trim() === '') throw invalidField('content', 'required', 'must not be blank');
  return content;
}

/** The mentioned users who are active; other mentions stay plain text. */
async function mentionedUsers(sql: Transaction, content: string): Promise<string[]> {
  const named = mentionedIds(content);
  if (named.length > MAX_MENTIONS) {
    throw invalidField('content', 'too_many_mentions', `mentions more than ${MAX_MENTIONS} users`);
  }
  if (named.length === 0) return [];
  const found = new Set(await sql('users').whereIn('id', named).where({ is_active: true }).pluck('id'));
  return named.filter((id) => found.has(id));
}
