import type { Ctx, Work } from '../context.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { RowChanges, StoredRow } from '../events/row-changes.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import type { CardRight } from '../permissions/policy.ts';
import type { RowModel } from '../resources/rows.ts';

/** A permission, or one that a stakeholder role on the written card may give instead. */
export type Need = AppPermission | CardRight;

/** What the undoing of a kind of write needs: what the write itself needed. */
export interface UndoRight {
  /** All of these, for one's own writes as well. */
  needs: readonly Need[];
  /** Instead of `needs`, for what somebody else has written; `everything` is what administrators alone hold. */
  others?: readonly Need[] | 'everything';
}

/** Undoing needs all of these, anyone who wrote. */
export const needs = (...all: Need[]): UndoRight => ({ needs: all });
/** What belongs to one person: nobody else may write it by a permission. */
export const personal = (...all: Need[]): UndoRight => ({ needs: all, others: 'everything' });

/** One event of a batch that is to be undone. */
export interface UndoneEvent {
  position: number;
  event_type: EventType;
  /** The id of the object that was written: `data.id`. */
  id: string;
  card_id: string | null;
  data: Record<string, unknown> & { changes: RowChanges };
}

/** The values that the event's columns had before it; columns that were not set are left out. */
export function columnsBefore({ data }: UndoneEvent): StoredRow {
  return Object.fromEntries(Object.entries(data.changes).map(([column, change]) => [column, change.old]));
}

/** Why an object cannot be brought back, such as `missing_card`, with a sentence for the reader. */
export interface UndoRefusal {
  code: string;
  message: string;
}

/**
 * How the events of one kind of object are undone. Most objects are rows whose events contain every column
 * (`rowChanges`): those need the table's name alone. Others bring their own function.
 */
export interface UndoSpec {
  /** What the report calls the object, such as `comment`. */
  entity: string;
  /** The event types of its writes; a kind without updates leaves `updated` out. */
  events: { created?: EventType[]; updated?: EventType[]; deleted?: EventType[] };
  /** The model of the rows: its columns are the keys of `changes`, and `data.id` is their `id`. */
  model?: RowModel;
  /** Columns that follow by themselves and are not compared when a conflict is looked for. */
  derived?: readonly string[];
  /** The command that undoes it has to take the metamodel alone (`CommandOptions.changesMetamodel`). */
  changesMetamodel?: boolean;
  /** Topics to raise after a row was brought back, given the row as it was told. */
  topics?(event: UndoneEvent): string[];
  /**
   * Looks at what the generic undoing of a row has left, and does what follows from it; a refusal takes that back.
   */
  settle?(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null>;
  /**
   * Does what the generic undoing cannot: rules, derived values, files. Writes through `work`, and emits the events of
   * its own writes. Answers why it could not, or null.
   */
  undo?(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null>;
}
