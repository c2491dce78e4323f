import type { EventType } from '../../kernel/events/events.catalogue.ts';

/** A table whose rows are part of the workspace and are exported. */
export interface ContentTable {
  table: string;
  /** The name of one of its rows in reports. */
  what: string;
  /**
   * The columns that identify a row. If they are a name instead of an id, the same object has another id and other
   * timestamps in another workspace, so `left` excludes those from archives.
   */
  key: readonly string[];
  /** Columns that are not exported, because the service sets them. */
  left?: readonly string[];
  /** Expressions by which the same row is found if its id does not exist; `%` is the row. */
  matches?: readonly (readonly string[])[];
  /**
   * Which rows are exported, as a condition on `t`; all, if absent. `active` returns the condition that a card, given
   * by a column, is exported.
   */
  where?(active: (card: string) => string): string;
  /** Its rows do not reference users: ids in their texts are not converted. */
  namesNobody?: true;
  /** The name of a row in reports: an expression over `t`. */
  label: string;
  /** The events of written rows; a kind without `updated` is never updated by an import. */
  events?: { created: EventType; updated?: EventType };
  /** The column with the card in whose history the event shows. */
  card?: string;
  /** The column with the only recipient of the event. */
  recipient?: string;
  /** Columns that may contain costs. */
  costs?: readonly string[];
  /** Topics that its rows raise. */
  topics?: readonly string[];
  /** Rows are part of the metamodel: no concurrent writes while they change. */
  metamodel?: true;
}

/** The checks for the values of a column. */
export interface FieldRule {
  /** Maximum characters of a text. */
  max?: number;
  /** The text is not blank. */
  filled?: true;
  pattern?: RegExp;
  least?: number;
  most?: number;
}
