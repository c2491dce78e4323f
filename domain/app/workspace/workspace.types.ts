import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { Resource, Transfer } from '../../kernel/resources/resource.ts';

/** A table whose rows are part of the workspace, and are exported. */
export interface ContentTable extends Transfer, Pick<Resource, 'name' | 'card' | 'topics' | 'metamodel'> {
  table: string;
  key: readonly string[];
  label: string;
  /** The events of written rows; a kind without `updated` is never updated by an import. */
  events?: { created: EventType; updated?: EventType };
}

/** The checks for the values of a column. */
export interface FieldRule {
  /** Maximum characters of a text. */
  max?: number;
  /** The text is not blank. */
  filled?: true;
  pattern?: RegExp;
  /** The values of which it must have one. */
  options?: readonly string[];
  least?: number;
  most?: number;
}
