import type { EventType } from '../../kernel/events/events.catalogue.ts';

/** A table whose rows are the workspace's own, and go with it. */
export interface ContentTable {
  table: string;
  /** What reports call one of its rows. */
  what: string;
  /**
   * The columns that identify a row. Where they are a name and no id, the same thing has another id and other moments in
   * another workspace, so that `left` keeps those out of archives.
   */
  key: readonly string[];
  /** Columns that stay behind: what the service itself decides, or notes for itself. */
  left?: readonly string[];
  /** Expressions by which the same row is found if its id does not exist; `%` is the row. */
  matches?: readonly (readonly string[])[];
  /**
   * Which rows go, as a condition on `t`; all, where it is absent. `active` gives the condition that a card, named by a column,
   * is one of those that go.
   */
  where?(active: (card: string) => string): string;
  /** Its rows refer to nobody: what looks like somebody's id in their texts is a part of these, and goes as it is. */
  namesNobody?: true;
  /** How a report names a row: an expression over `t`. */
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
  /** Rows are a part of the metamodel, beside whose change nobody else writes. */
  metamodel?: true;
}

/** The rules for the values of a column. */
export interface FieldRule {
  /** Characters of a text, at most. */
  max?: number;
  /** The text is not blank. */
  filled?: true;
  pattern?: RegExp;
  least?: number;
  most?: number;
}
