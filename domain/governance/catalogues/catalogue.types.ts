import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { ListSpec } from '../../kernel/lists/lists.types.ts';
import type { RowModel } from '../../kernel/resources/rows.ts';

/** A small list that administrators maintain, such as the link types: the rows of one table. */
export interface Catalogue {
  model: RowModel;
  /** What one entry is called in a refusal, such as `principle`. */
  entity: string;
  events: { created: EventType; updated: EventType; deleted: EventType };
  /** The members of an entry, over the alias `t`, labels in the language. */
  list(language: string): ListSpec;
  /** The members of events that name the entry, besides its id. */
  names(row: StoredRow): Record<string, unknown>;
  /** The unique index of its keys. */
  uniqueKey?: string;
  /** Whether labels are translated. */
  translated: boolean;
}

/** The topic that every change of a catalogue raises. */
export const CATALOGUES_TOPIC = 'catalogues';
