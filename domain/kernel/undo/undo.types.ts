import type { Ctx, Work } from '../context.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { RowChanges, StoredRow } from '../events/row-changes.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import type { CardRight } from '../permissions/policy.ts';
import type { RowModel } from '../resources/rows.ts';

/** A permission, or a card right that a stakeholder role on the written card can grant instead. */
export type RequiredRight = AppPermission | CardRight;

/** The rights that undoing a kind of write needs: those that the write itself needed. */
export interface UndoRight {
  /** All of these, also for the caller's own writes. */
  needs: readonly RequiredRight[];
  /** Replaces `needs` for writes of other users; `everything` means the rights of administrators. */
  others?: readonly RequiredRight[] | 'everything';
  /** Of own writes to these columns, in addition. */
  columns?: Readonly<Record<string, RequiredRight>>;
}

/** An undo that needs all of these rights, whoever wrote. */
export const needs = (...all: RequiredRight[]): UndoRight => ({ needs: all });
/** Data of one user: no permission allows other users to write it. */
export const personal = (...all: RequiredRight[]): UndoRight => ({ needs: all, others: 'everything' });

/** One event of a batch that is to be undone. */
export interface UndoneEvent {
  position: number;
  event_type: EventType;
  /** The id of the object that was written: `data.id`. */
  id: string;
  card_id: string | null;
  data: Record<string, unknown> & { changes: RowChanges };
}

/** The values of the event's columns before it; columns that were not set are omitted. */
export function columnsBefore({ data }: UndoneEvent): StoredRow {
  return Object.fromEntries(Object.entries(data.changes).map(([column, change]) => [column, change.old]));
}

/** Why an object cannot be restored, such as `missing_card`, with a message for the user. */
export interface UndoRefusal {
  code: string;
  message: string;
}

/**
 * How the events of one kind of object are undone. Most objects are rows whose events contain every column
 * (`rowChanges`): for those the table's name suffices. Others have a custom function.
 */
export interface UndoSpec {
  /** The name of the object in the report, such as `comment`. */
  entity: string;
  /** The event types of its writes; a kind without updates omits `updated`. */
  events: { created?: EventType[]; updated?: EventType[]; deleted?: EventType[] };
  /** The model of the rows: its columns are the keys of `changes`, and `data.id` is their `id`. */
  model?: RowModel;
  /** Derived columns, which are not compared to detect conflicts. */
  derived?: readonly string[];
  /** The command that undoes it needs the exclusive metamodel lock (`CommandOptions.changesMetamodel`). */
  changesMetamodel?: boolean;
  /** Topics to raise after a row was restored, from the row in its event. */
  topics?(event: UndoneEvent): string[];
  /** Checks a row before its generic undo: why it must stay, or null. */
  check?(work: Work, event: UndoneEvent): Promise<UndoRefusal | null>;
  /**
   * Checks a row after its generic undo and applies the consequences; a refusal reverts the undo.
   */
  settle?(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null>;
  /**
   * Replaces the generic undo for objects with rules, derived values or files. Writes through `work`, and emits the
   * events of its writes. Returns why it could not, or null.
   */
  undo?(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null>;
}
