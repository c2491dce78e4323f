import type { FeedRow } from '../../kernel/events/feed.read.ts';
import type { RowChanges } from '../../kernel/events/row-changes.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { NotificationType } from './notifications.types.ts';

/** The data of notification texts, which never contain costs. */
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

/** Who is notified of an event, and with which texts. */
export interface NotificationRule {
  type: NotificationType;
  /** The stakeholders of the event's card, or user ids from the event; other values are ignored. */
  to: 'followers' | ((event: FeedRow) => unknown[]);
  /** Excludes events that need no notification. */
  when?(event: FeedRow): boolean;
  /** Required in addition to seeing the event's card. */
  permission?: AppPermission;
  /** Whether the actor is notified, too. */
  toActor?(event: FeedRow): boolean;
  title(facts: Facts): string;
  message(facts: Facts): string;
  /** The title over many of them, as `37 cards you follow were changed`. */
  many(count: number): string;
  /** The page of the application; the card's unless given. */
  link?(facts: Facts): string | null;
}

export const changesOf = (event: FeedRow): RowChanges => (event.data.changes ?? {}) as RowChanges;
export const newValue = (event: FeedRow, field: string): unknown => changesOf(event)[field]?.new;
/** The entries of what should be a list. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * The beginning of a text on one line. Mentions stay `@[Name](user:<id>)`, so that erasure can replace the names.
 */
export const excerpt = (text: unknown): string => {
  const line = String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
};
