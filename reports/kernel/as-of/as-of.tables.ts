import { resources } from '../../../domain/app/resources.ts';
import type { EventType } from '../../../domain/kernel/events/events.catalogue.ts';
import type { UndoSpec } from '../../../domain/kernel/undo/undo.types.ts';

/** A table whose rows are told by events, so that it can be shown as it was. */
export interface AsOfTable {
  table: string;
  created: EventType[];
  updated: EventType[];
  deleted: EventType[];
  /** Columns whose values events tell one by one, as `<column>.<key>`. */
  nested: string[];
  /** What events call a row that a merge hangs on another card. */
  moves?: string;
}

/** A table whose old values are kept beside the events, as far as reports count by them. */
export interface OldValuesTable {
  table: 'cards' | 'relations';
  /** Where they are kept: a row for each event that tells of one, or that a row came or went. */
  values: string;
  /** Its columns with the id of the row and the type of it. */
  id: string;
  type: string;
  /** Fields that are never empty, each a column of its own. */
  plain: string[];
  /** Fields that may be empty, together in the column `optional`. */
  optional: string[];
  /** What they are called when they have been gathered. */
  rows: string;
}

/** A table with rows that may have been written after a moment. */
export interface TouchedTable {
  table: AsOfTable | 'card_tags';
  /** Its number in `past_rows`. */
  number: number;
  /** Where its rows are gathered from old values that are kept, and not from events. */
  apart?: OldValuesTable;
  /** Whether rows that stood at the moment are there no more. */
  gone: boolean;
  /** Whether rows were made since. */
  made: boolean;
  /** Every field that changed in some row. */
  fields: ReadonlySet<string>;
}

const pastTable = (
  table: string,
  moves: string,
  events: UndoSpec['events'],
  nested: string[],
): AsOfTable => ({
  table,
  created: events.created ?? [],
  updated: events.updated ?? [],
  deleted: events.deleted ?? [],
  nested,
  ...(nested.length > 0 ? {} : { moves }),
});

const declared = resources.flatMap(({ asOf, model, name, events }) =>
  asOf ? [pastTable(model.tableName, name, events, asOf === true ? [] : [...asOf.byKey])] : [],
);

/** All tables that can be shown as of a date, but for `card_tags`, whose rows are pairs. The most written come first. */
export const asOfTables: AsOfTable[] = [
  ...declared.filter(({ nested }) => nested.length > 0),
  ...declared.filter(({ nested }) => nested.length === 0),
];
