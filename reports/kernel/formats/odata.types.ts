import type { Fragment } from '../../../domain/inventory/filters/filters.sql.ts';

/** What a member of a JSON column becomes: itself, a date, a list, or a number as text. */
type InsideForm = 'value' | 'date' | 'list' | 'exact';

/**
 * What an entity's member is made of: an id, a text, a number, a moment, or the text of what is JSON already, null where the
 * database has none; an address around an id; a member of a JSON column; related entities; and the link to more of them than
 * one answer holds, which stands only where there are more.
 */
export type MemberSource =
  | { kind: 'id' | 'text' | 'number' | 'time' | 'json'; column: number }
  | { kind: 'address'; column: number; start: string; end: string }
  | { kind: 'inside'; column: number; key: string; form: InsideForm }
  | { kind: 'entity' | 'entities'; column: number; shape: EntityShape }
  | { kind: 'more'; column: number; id: number; start: string; end: string };

/** A member of an entity's JSON, in its place. */
export interface EntityMember {
  /** What stands before the value, from a comma on: members that are always the same, and its name. */
  head: string;
  source: MemberSource;
}

/** How a row of values becomes the JSON of an entity. */
export interface EntityShape {
  /** How many values a row has. */
  columns: number;
  members: EntityMember[];
  /** What stands behind the last member, but for the brace. */
  tail: string;
}

/** The values of which an entity's JSON is made, as SQL over its alias and those of the joins. */
export interface EntityRow {
  shape: EntityShape;
  columns: Fragment[];
  joins: Fragment[];
}
