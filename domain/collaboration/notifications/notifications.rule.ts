import type { FeedRow } from '../../kernel/events/feed.read.ts';
import type { RowChanges } from '../../kernel/events/row-changes.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { NotificationType } from './notifications.types.ts';

/** What a text may say of an event. Costs are never among it. */
export interface Facts {
  event: FeedRow;
  changes: RowChanges;
  /** Who acted, by name. */
  actor: string;
  /** The event's card, if it is about one. */
  card: { id: string; name: string; type: CardType } | undefined;
  /** A date as the workspace writes it, in the reader's language. */
  date(text: string): string;
}

/** Of which events who is told, and how. */
export interface NotificationRule {
  type: NotificationType;
  /** The holders of a role on the event's card, or users that the event names (whatever is no id is passed over). */
  to: 'followers' | ((event: FeedRow) => unknown[]);
  /** Leaves out events that are no news. */
  when?(event: FeedRow): boolean;
  /** Needed besides seeing the event's card. */
  permission?: AppPermission;
  /** Whether the one who acted is told as well: assignments by another's rule. */
  toActor?(event: FeedRow): boolean;
  title(facts: Facts): string;
  message(facts: Facts): string;
  /** The title over many of them, as `37 cards you follow were changed`. */
  many(count: number): string;
  /** The page of the application; the card's unless given. */
  link?(facts: Facts): string | null;
}

/** What the event's write has changed. */
export const changesOf = (event: FeedRow): RowChanges => (event.data.changes ?? {}) as RowChanges;
export const newValue = (event: FeedRow, field: string): unknown => changesOf(event)[field]?.new;
/** The entries of what should be a list. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * The beginning of what somebody has written, on one line. Whom it names stays `@[Name](user:<id>)`, as in comments: so
 * the name can be replaced when somebody is erased.
 */
export const excerpt = (text: unknown): string => {
  const line = String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
};
