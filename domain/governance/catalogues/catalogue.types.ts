import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { ListSpec } from '../../kernel/lists/lists.types.ts';

/** A small list that administrators keep, such as the link types: rows of one table with an id. */
export interface Catalogue {
  table: string;
  /** What one entry is called in a refusal, such as `principle`. */
  entity: string;
  events: { created: EventType; updated: EventType; deleted: EventType };
  /** The members of an entry, over the alias `t`, labels in the language. */
  list(language: string): ListSpec;
  /** What an event names the entry by, besides its id. */
  names(row: StoredRow): Record<string, unknown>;
  /** The unique index of its keys. */
  uniqueKey?: string;
  /** Whether labels are translated. */
  translated: boolean;
}

/** The topic that every change of a catalogue raises. */
export const CATALOGUES_TOPIC = 'catalogues';
