import type { RemoteRecord } from '../remote.types.ts';
import type { AgreedLink, BookChange, Pair } from './book.types.ts';
import type { Path } from './mapping.types.ts';
import type { LocalCard } from './observation.types.ts';
import type { PlanRow } from './plan.types.ts';
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
}

/** A write in the inventory. Values of `null` clear. */
export type LocalWrite =
  | { kind: 'create'; cardType: string; values: Record<Path, Value> }
  | { kind: 'update'; cardId: string; values: Record<Path, Value> }
  | { kind: 'archive'; cardId: string }
  | { kind: 'restore'; cardId: string }
  | { kind: 'relate'; relationType: string; source: string; target: string }
  | { kind: 'unrelate'; relationType: string; source: string; target: string };

/** A write outside. Values by column; `null` clears. */
export type RemoteWrite =
  | { kind: 'create'; table: string; values: Record<string, Value> }
  | { kind: 'update'; table: string; id: string; values: Record<string, Value> }
  | { kind: 'delete'; table: string; id: string }
  | { kind: 'relate'; link: AgreedLink }
  | { kind: 'unrelate'; link: AgreedLink };

/** What the inventory says to a write: done with the card as it is now, or refused with the reason. */
export type LocalAnswer = { kind: 'done'; card: LocalCard | null } | { kind: 'refused'; message: string };

/** What the remote says to a write; `lost` when no answer came, so that it may have been done or not. */
export type RemoteAnswer =
  | { kind: 'done'; record: RemoteRecord | null }
  | { kind: 'refused'; message: string }
  /** The check objected, and nothing was written. */
  | { kind: 'stale'; message: string }
  | { kind: 'lost' };

/**
 * Whether a write of which the answer was lost has arrived. `unmarked`: the remote keeps no mark of such a write, and
 * only the present state can tell.
 */
export type Trace =
  | { kind: 'arrived'; record: RemoteRecord | null }
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
  /** A pair that already speaks for the card, other than the row's own. */
  other: Pair | undefined;
}

/**
 * All that applying needs from outside. Whatever throws, or the end of the process, interrupts the run; the next one
 * goes on from the journal.
 */
export interface EnginePort {
  progressOf(row: PlanRow): Promise<Progress>;
  /** The row's card and its pair as they are now, locked where they can be. */
  stateOf(row: PlanRow): Promise<LocalState>;
  /**
   * One transaction: asks `check` with the state as it is, writes unless it objects, and stores the outcome with the
   * changes of the book.
   */
  writeLocal(
    row: PlanRow,
    write: LocalWrite,
    check: (state: LocalState) => string | null,
    changes: (card: LocalCard | null) => BookChange[],
  ): Promise<Outcome>;
  readRemote(table: string, id: string): Promise<RemoteState>;
  /**
   * One transaction: asks `check` with the state as it is, and notes that the write is about to be sent unless it
   * objects. From then until the row ends nobody may take its pair apart.
   * @returns the objection, or null when the row is begun.
   */
  begin(row: PlanRow, check: (state: LocalState) => string | null): Promise<string | null>;
  /**
   * Sends a write with a mark by which it is found again. Before it asks `check`, if there is one, with the record as
   * it is: in one step where the remote can write conditionally, else as shortly before as can be.
   */
  writeRemote(
    write: RemoteWrite,
    correlation: string,
    check: ((state: RemoteState) => string | null) | null,
  ): Promise<RemoteAnswer>;
  trace(write: RemoteWrite, correlation: string): Promise<Trace>;
  /** One transaction: the outcome, and what it changes in the book. */
  finish(row: PlanRow, outcome: Outcome, changes: BookChange[]): Promise<void>;
  /** One transaction: the plan is done, and what closes it is in the book. */
  close(changes: BookChange[]): Promise<void>;
}
