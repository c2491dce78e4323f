import type { EventScope, EventType } from './events.catalogue.ts';

export interface Change {
  old: unknown;
  new: unknown;
}

/** One event to be recorded; the command adds caller, time and address. */
export interface EventDraft {
  event_type: EventType;
  /** Set if it differs from the scope of the kind. */
  scope?: EventScope;
  card_id?: string | null;
  card_type?: string | null;
  /** The card at the other end of a relation, whose history also contains the event. */
  peer_card_id?: string | null;
  peer_card_type?: string | null;
  relation_id?: string | null;
  relation_type?: string | null;
  /** The only user who can see an event of scope `user`. */
  recipient_id?: string | null;
  /** For events before login, when the caller is not yet known. */
  user_id?: string | null;
  /** Keys of `data.changes` (such as `attributes.costTotalAnnual`) whose values are costs. */
  cost_keys?: string[] | null;
  /**
   * `changes: {field: {old, new}}` has the written values, also for created (old is null) and deleted (new is null)
   * objects; attributes as `attributes.<key>`, lifecycle as `lifecycle.<phase>`.
   */
  data: Record<string, unknown>;
}

/** The pattern of a position from a client, for schemas. */
export const POSITION_PATTERN = '^[0-9]{1,16}$';
