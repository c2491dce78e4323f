import type { RemoteRecord } from '../remote.types.ts';
import type { AgreedLink, BookChange, Pair } from './book.types.ts';
import type { Path } from './mapping.types.ts';
import type { LocalCard } from './observation.types.ts';
import type { PlanRow, Restored } from './plan.types.ts';
import type { Value } from './values.ts';

/**
 * How a row ended. `begun`: its write was sent and the answer is not known, so that it is looked up before it is
 * tried again. `stale`: the state it was made from no longer held, and nothing was written.
 */
export type Progress = 'pending' | 'begun' | 'applied' | 'stale' | 'refused' | 'skipped';

/** What has become of a row, in words where that helps. */
export interface Outcome {
  progress: Exclude<Progress, 'pending' | 'begun'>;
  message: string | null;
  /** The key of what was made. */
  madeId?: string;
  /** By path, why a value was not taken, though the rest of the row may have been. */
  left?: Record<Path, string>;
}

/** A write in the inventory. Values of `null` clear. */
export type LocalWrite =
  | { kind: 'create'; cardType: string; values: Record<Path, Value> }
  | { kind: 'update'; cardId: string; values: Record<Path, Value> }
  | { kind: 'archive'; cardId: string }
  | { kind: 'restore'; cardId: string }
  /** An end is null while its card is made by the same plan: it is the one of the record that the row's link names. */
  | { kind: 'relate'; relationType: string; source: string | null; target: string | null }
  | { kind: 'unrelate'; relationType: string; source: string | null; target: string | null };

/** A write outside. Values by column; `null` clears. */
export type RemoteWrite =
  /** `restored`: it takes a deletion back, and holds what the deleted record held. */
  | { kind: 'create'; table: string; values: Record<string, Value>; restored?: Restored }
  | { kind: 'update'; table: string; id: string; values: Record<string, Value> }
  | { kind: 'delete'; table: string; id: string }
  | { kind: 'relate'; link: AgreedLink }
  | { kind: 'unrelate'; link: AgreedLink };

/** What the remote says to a write; `lost` when no answer came, so that it may have been done or not. */
export type RemoteAnswer =
  /**
   * `found`: its answer was lost, and the record was looked up; somebody may have changed it since.
   * `adopted`: the remote took a record that it had before for the one to be made.
   * `notice`: what somebody should know about it.
   */
  | { kind: 'done'; record: RemoteRecord | null; found?: boolean; adopted?: boolean; notice?: string }
  | { kind: 'refused'; message: string }
  /** The record was no longer as it was seen, and what somebody had written stands. */
  | { kind: 'stale'; message: string }
  | { kind: 'lost' };

/**
 * Whether a write of which the answer was lost has arrived. `unmarked`: the remote keeps no mark of such a write, and
 * only the present state can tell.
 */
export type Trace =
  | { kind: 'arrived'; record: RemoteRecord | null; adopted?: boolean; notice?: string }
  | { kind: 'absent' }
  | { kind: 'unmarked' };

/** A record by its key; `unknown` when the remote would not say whether it is there. */
export type RemoteState =
  | { kind: 'there'; record: RemoteRecord }
  | { kind: 'gone' }
  | { kind: 'unknown'; message: string };

/** What the engine sees within the transaction of a local write. */
export interface LocalState {
  card: LocalCard | null;
  pair: Pair | undefined;
  /** A pair that the card is half of, besides the row's own and those that end with it. */
  other: Pair | undefined;
}

/** A row with how far it has come, and what a person has said to it. */
export interface Standing {
  row: PlanRow;
  progress: Progress;
  approval: 'approved' | 'rejected' | null;
}

/** A row that writes in the inventory, or in the book alone. */
export interface LocalStep {
  row: PlanRow;
  /** Null where only the book changes. */
  write: LocalWrite | null;
  /** Why the row cannot be applied any more, given the state and how the rows before it ended in this transaction. */
  check: (state: LocalState, ended: ReadonlyMap<number, Progress>) => string | null;
  /** @param left paths that could not be written: nothing is agreed on them. */
  changes: (card: LocalCard | null, left?: ReadonlySet<Path>) => BookChange[];
}

/** How a row has ended, with what it changes in the book. */
export interface Ending {
  row: PlanRow;
  outcome: Outcome;
  changes: BookChange[];
}

/**
 * All that applying needs from outside. Whatever throws, or the end of the process, interrupts the run; the next one
 * goes on from the journal.
 */
export interface EnginePort {
  /** The rows of the plan in their order, some hundred at a time, as they stand when they are reached. */
  rows(): AsyncIterable<readonly Standing[]>;
  /**
   * One transaction, or several where no row builds on another: step by step asks `check` with the state as those before have left it, writes unless it objects, and
   * stores the outcome with the changes of the book. What the inventory refuses of one step stops no other.
   * @returns the outcomes in the order of the steps.
   */
  writeLocal(steps: readonly (LocalStep | Ending)[]): Promise<Outcome[]>;
  /** Who is who of these records and cards, as the rows that have ended have left it. */
  whoIs(
    remoteIds: readonly string[],
    cardIds: readonly string[],
  ): Promise<{
    cardOf(remoteId: string): string | undefined;
    recordOf(cardId: string): string | undefined;
  }>;
  /** Looks at records, whatever filter they fit. */
  readRemote(table: string, ids: readonly string[]): Promise<Map<string, RemoteState>>;
  /**
   * One transaction: asks each `check` with the state as it is, and notes that the write is about to be sent unless it
   * objects. From then until the row ends nobody may take its pair apart.
   * @returns each row's objection, or null when it is begun.
   */
  begin(
    rows: readonly { row: PlanRow; check: (state: LocalState) => string | null }[],
  ): Promise<(string | null)[]>;
  /**
   * Sends a write with a mark by which it is found again. @param seen the record as it was just read; a remote that can
   * write conditionally only does so while it is like that.
   */
  writeRemote(write: RemoteWrite, correlation: string, seen: RemoteRecord | null): Promise<RemoteAnswer>;
  /** Keeps what the records hold that these rows are about to delete, so that the deletions can be taken back. */
  keepRemoved?(rows: readonly PlanRow[]): Promise<void>;
  trace(write: RemoteWrite, correlation: string): Promise<Trace>;
  /** One transaction: the outcomes, and what they change in the book. */
  finish(endings: readonly Ending[]): Promise<void>;
  /** One transaction: the plan is done, and what closes it is in the book. */
  close(changes: BookChange[]): Promise<void>;
}
