import type { EventScope, EventType } from './events.catalogue.ts';

export interface Change {
  old: unknown;
  new: unknown;
}

/** One event to be recorded; who, when and where from is added by the command. */
export interface EventDraft {
  event_type: EventType;
  /** Where it is another than that of its kind. */
  scope?: EventScope;
  card_id?: string | null;
  card_type?: string | null;
  /** The other end's card of a relation, in whose history the event shows as well. */
  peer_card_id?: string | null;
  peer_card_type?: string | null;
  relation_id?: string | null;
  relation_type?: string | null;
  /** Whom an event of scope `user` is for; nobody else is shown it. */
  recipient_id?: string | null;
  /** For events before login, where the caller is not yet known. */
  user_id?: string | null;
  /** Keys of `data.changes` (such as `attributes.costTotalAnnual`) whose values are costs. */
  cost_keys?: string[] | null;
  /**
   * Holds what was written as `changes: {field: {old, new}}`, also for created (old is null) and deleted (new is
   * null) objects; attributes as `attributes.<key>`, lifecycle as `lifecycle.<phase>`.
   */
  data: Record<string, unknown>;
}

/** What a position looks like that a client sends, as schemas have it. */
export const POSITION_PATTERN = '^[0-9]{1,16}$';
