import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import type { CommentRow } from '../collaboration.model.ts';
import { excerpt } from './comments.rules.ts';

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
