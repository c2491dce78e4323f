import { resources } from '../../../domain/app/resources.ts';
import type { EventType } from '../../../domain/kernel/events/events.catalogue.ts';
import type { UndoSpec } from '../../../domain/kernel/undo/undo.types.ts';

/** A table whose rows can be restored from events, so that it can be read as of a date. */
export interface AsOfTable {
  table: string;
  created: EventType[];
  updated: EventType[];
  deleted: EventType[];
  /** Columns whose members are fields of events, as `<column>.<key>`. */
  nested: string[];
  /** The entity in the events of a merge that moves a row to another card. */
  moves?: string;
}

/** A table with a separate table of old values, for the columns that reports group by. */
export interface OldValuesTable {
  table: 'cards' | 'relations';
  /** The table of old values: a row for each event that changes one, or creates or deletes a row. */
  values: string;
  /** Its columns with the id and type of the row. */
  id: string;
  type: string;
  /** Fields that are never empty, each in a separate column. */
  plain: string[];
  /** Fields that may be empty, together in the column `optional`. */
  optional: string[];
  /** The name of the collected rows. */
  rows: string;
}

/** A table with rows that may have been written after the date. */
export interface TouchedTable {
  table: AsOfTable | 'card_tags';
  /** Its number in `changed_rows`. */
  number: number;
  /** Set if its rows are collected from a table of old values, and not from events. */
  oldValuesTable?: OldValuesTable;
  /** Whether rows that existed then were deleted since. */
  gone: boolean;
  /** Whether rows were created since. */
  made: boolean;
  /** Every field that changed in some row. */
  fields: ReadonlySet<string>;
}

const asOfTable = (
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
  asOf ? [asOfTable(model.tableName, name, events, asOf === true ? [] : [...asOf.byKey])] : [],
);

/** All tables that can be read as of a date, except `card_tags`, whose rows are pairs. The most frequently written first. */
export const asOfTables: AsOfTable[] = [
  ...declared.filter(({ nested }) => nested.length > 0),
  ...declared.filter(({ nested }) => nested.length === 0),
];
