import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import type { CommentRow } from '../collaboration.model.ts';

/**
 * The event of one written comment. `mentions` are the users whom this write mentioned first, who are notified.
 * Without `before` it was created, without `after` deleted.
 */
export function commentEvent(
  card: { id: string; type: string; name: string },
  before: CommentRow | null,
  after: CommentRow | null,
): EventDraft {
  const row = (after ?? before)!;
  const known = new Set(before?.mentions);
  return {
    ...rowEvent('comment', before, after, {
      id: row.id,
      card_name: card.name,
      parent_id: row.parent_id,
      author_id: row.user_id,
      content: excerpt(row.content),
      mentions: after === null ? [] : after.mentions.filter((id) => !known.has(id)),
    }),
    card_id: card.id,
    card_type: card.type,
  };
}

/** The greatest number of comments in a thread, including the first one. */
export const MAX_THREAD = 500;
/** The greatest number of users that a comment may mention. */
export const MAX_MENTIONS = 50;

const MENTION = /@\[[^\]\r\n]{1,200}\]\(user:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)/gi;

/** The ids of the users whom a comment mentions as `@[Name](user:<id>)`, each once, in the order of the text. */
export function mentionedIds(content: string): string[] {
  const ids = new Set<string>();
  for (const [, id] of content.matchAll(MENTION)) ids.add(id!.toLowerCase());
  return [...ids];
}

/** The beginning of a text, for events. */
function excerpt(text: string, length = 100): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}
