import type { rowActions, rowProgress } from '../../../../domain/exchange/itsm/itsm.model.ts';
import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RecordLookup, RemoteRecord } from '../remote.ts';
import type {
  Agreed,
  AgreedLink,
  LocalCard,
  Origin,
  Pair,
  PairState,
  Path,
  Side,
  StateChange,
} from './model.types.ts';

type Action = (typeof rowActions)[number];

/** The state that a row was planned from. The row is applied only while it is unchanged. */
interface Expectation {
  /** `fields` by path, in the inventory's form. */
  card?: { there: boolean; fields: Record<Path, Value> };
  /** `fields` by path, in the remote's form. */
  record?: { there: boolean; fields: Record<Path, Value> };
  /** The state of the record's pair, or `none` if it has no pair. */
  pair?: PairState['kind'] | 'none';
  /** The card must not have another pair. */
  unbound?: boolean;
}

/** A card that a record may correspond to. `why`: what they have in common. */
interface Candidate {
  cardId: string;
  /** 0 to 1. */
  score: number;
  why: string;
}

/** An undone deletion: the row that deleted the record, and the record's former id. */
export interface Restored {
  runId: string;
  no: number;
  remoteId: string;
}

/** One row of a plan. It is stored as JSON and does not change after planning. */
export interface PlanRow {
  /** Position in the plan, from 0. */
  no: number;
  action: Action;
  /** The side that is written; null if at most the sync state changes. */
  side: Side | null;
  remoteId: string | null;
  cardId: string | null;
  /** By path, in the form of the written side. */
  diff: Record<Path, { old: Value; new: Value }>;
  reason: string;
  expects: Expectation;
  /** The number of a row that must be applied first. */
  needs: number | null;
  /** The bases after the row was applied. */
  agreed: Record<Path, Agreed>;
  /** Paths whose bases the row deletes. */
  forgets: Path[];
  /** The former bases, for an undo. */
  before: Record<Path, Agreed | null>;
  /** The pair's new state; null: unchanged. */
  state: PairState | null;
  /** The pair's state before a restore, for an undo. */
  was: PairState | null;
  /** The deletion that this new record undoes: it is created with the content of the deleted one. */
  restored: Restored | null;
  /** Records whose pairs the row deletes. */
  drops: string[];
  origin: Origin | null;
  candidates: Candidate[];
  /** The relation of a `relate` or `unrelate`, by the records that the written side uses. */
  link: AgreedLink | null;
  /** The relation by the records of the primary pairs, if different. */
  baseLink: AgreedLink | null;
  /** The relation by cards; null if the same plan creates one of them, until it is resolved. */
  cards: { relationType: string; source: string; target: string } | null;
  /** The field of a conflict; null for a conflict about a removal. */
  path: Path | null;
  /** Of a conflict: the side that refused the value. */
  refusedBy: Side | null;
  /** Paths that were changed on both sides, where a rule decided. */
  settled: Path[];
  /**
   * References to objects that the same plan creates or links, by path: a record id if a card is written, a card id if a record
   * is written. They are resolved when the earlier rows have ended. Of a relation: by end (`source`, `target`), the card whose
   * record the plan creates or links; if it creates the record, `link` contains the card id in its place.
   */
  refers: Record<Path, string>;
}

/** The changes that a run is going to make. A stored plan never changes. */
export interface Plan {
  id: string;
  rows: readonly PlanRow[];
  /** How the plan exceeds the deletion limit; null if it does not. */
  stopped: string | null;
  /** Changes of the sync state after all rows have ended. */
  closing: { watermark: string | null; again: string[]; absences: Record<string, number> };
}

/** The result of comparing one field of a pair. */
export type FieldOutcome =
  /** Unchanged. */
  | { kind: 'same' }
  /** Both sides have equal values; only the base is updated. */
  | { kind: 'agree'; agreed: Agreed }
  /** `value` is written to `side`; `settled`: it won against a change of that side. */
  | { kind: 'write'; side: Side; value: Value; settled: boolean; reason: string }
  /** Changed on both sides, and no rule decides. */
  | { kind: 'conflict'; reason: string }
  /** `side` has refused the value before: a user has to decide. */
  | { kind: 'refused'; side: Side; reason: string }
  /** The mapping does not write to the side that should get the value; `settled` as above. */
  | { kind: 'disallowed'; reason: string; settled: boolean }
  /** The value cannot be converted for `side`; `awaitedId`: the card or record that needs a pair first. */
  | { kind: 'problem'; side: Side; reason: string; settled: boolean; awaitedId?: string };

export type Progress = (typeof rowProgress)[number];

/** How a row ended. */
export interface Outcome {
  progress: Exclude<Progress, 'pending' | 'started'>;
  message: string | null;
  /** The id of the created card or record. */
  createdId?: string;
  /** By path, why a value was not written; the other values of the row may have been. */
  unwritten?: Record<Path, string>;
}

/** A write to the inventory. Values by path; `null` clears. */
export type LocalWrite =
  | { kind: 'create'; cardType: string; values: Record<Path, Value> }
  | { kind: 'update'; cardId: string; values: Record<Path, Value> }
  | { kind: 'archive'; cardId: string }
  | { kind: 'restore'; cardId: string }
  | { kind: 'relate' | 'unrelate'; relationType: string; source: string; target: string };

/** A write to the remote. Values by column; `null` clears. */
export type RemoteWrite =
  /**
   * `defaults`: of columns for which there is no other value. `restored`: the deletion that it undoes, with whose stored
   * content the record is created.
   */
  | {
      kind: 'create';
      table: string;
      values: Record<string, Value>;
      defaults: Record<string, Value>;
      restored?: Restored;
    }
  | { kind: 'update'; table: string; id: string; values: Record<string, Value> }
  | { kind: 'delete'; table: string; id: string }
  | { kind: 'relate'; link: AgreedLink }
  | { kind: 'unrelate'; link: AgreedLink };

/** The result of a write to the remote; `lost`: without a response, so that it is unknown whether it was executed. */
export type RemoteWriteResult =
  /**
   * `found`: the response was lost and the record looked up; it may have been changed since.
   * `adopted`: instead of creating a record the remote used an existing one.
   * `notice`: information for users.
   */
  | { kind: 'done'; record: RemoteRecord | null; found?: boolean; adopted?: boolean; notice?: string }
  | { kind: 'refused'; message: string }
  /** The record was changed after it was read; it was not overwritten. */
  | { kind: 'stale'; message: string }
  | { kind: 'lost' };

/**
 * Whether a write without a response was executed. `unsupported`: the remote does not store a correlation id for such a write, so
 * that only its current state can show it.
 */
export type WriteTrace =
  | { kind: 'executed'; record: RemoteRecord | null; adopted?: boolean; notice?: string }
  | { kind: 'absent' }
  | { kind: 'unsupported' };

/** The state that is checked within the transaction of a local write. */
export interface LocalState {
  card: LocalCard | null;
  pair: Pair | undefined;
  /** A pair of the card other than the row's own pair and those that the row drops. */
  other: Pair | undefined;
}

/** A row with its progress and approval. */
export interface TrackedRow {
  row: PlanRow;
  progress: Progress;
  approval: 'approved' | 'rejected' | null;
}

/** An applied row and the id of what it created. */
export interface AppliedRow {
  row: PlanRow;
  createdId: string | null;
}

/** A row that writes to the inventory, or to the sync state only. */
export interface LocalStep {
  row: PlanRow;
  /** Null if only the sync state changes. */
  write: LocalWrite | null;
  /** Why the row is stale, given the state and the rows that ended before it in this transaction; null if it is not. */
  check: (state: LocalState, ended: ReadonlyMap<number, Progress>) => string | null;
  /** @param unwritten paths that could not be written, which get no base. */
  changes: (card: LocalCard | null, unwritten?: ReadonlySet<Path>) => StateChange[];
}

/** A row with its outcome and its changes of the sync state. */
export interface RowResult {
  row: PlanRow;
  outcome: Outcome;
  changes: StateChange[];
}

/**
 * The storage and the remote that a plan is applied with. If a method throws, or the process ends, applying resumes later from
 * the stored progress of the rows.
 */
export interface EnginePort {
  /** The rows of the plan in their order, in chunks, with their current progress. */
  rows(): AsyncIterable<readonly TrackedRow[]>;
  /**
   * Executes steps in their order, in one transaction: calls `check` with the current state, writes unless the step is stale,
   * and stores the outcome with the changes of the sync state. A refused step does not affect the others.
   * @returns the outcomes in the order of the steps.
   */
  writeLocal(steps: readonly (LocalStep | RowResult)[]): Promise<Outcome[]>;
  /** Resolves the cards of records of the connection and the records of cards, after the rows that have ended. */
  resolveIds(
    remoteIds: readonly string[],
    cardIds: readonly string[],
  ): Promise<{
    cardOf(remoteId: string): string | undefined;
    recordOf(cardId: string): string | undefined;
  }>;
  /** Reads records by key, whether or not they match the filter. */
  readRemote(table: string, ids: readonly string[]): Promise<Map<string, RecordLookup>>;
  /**
   * In one transaction, calls `check` of each row with the current state and marks the row as started unless it is stale. The pair
   * of a started row cannot be un-mapped until the row ends.
   * @returns by row, why it is stale; null if it is started.
   */
  begin(
    rows: readonly { row: PlanRow; check: (state: LocalState) => string | null }[],
  ): Promise<(string | null)[]>;
  /**
   * Sends a write with a correlation id, by which it can be found later. @param current the record as just read; a remote with
   * conditional writes executes it only while the record is unchanged.
   */
  writeRemote(
    write: RemoteWrite,
    correlationId: string,
    current: RemoteRecord | null,
  ): Promise<RemoteWriteResult>;
  /** Stores the content of the records that these rows are about to delete, so that the deletions can be undone. */
  storeDeletedContent?(rows: readonly PlanRow[]): Promise<void>;
  /** Finds out whether a write without a response was executed. */
  findWrite(write: RemoteWrite, correlationId: string): Promise<WriteTrace>;
  /** Stores outcomes and their changes of the sync state in one transaction. */
  finish(endings: readonly RowResult[]): Promise<void>;
}

/** A record or a card with its values in the inventory's form. */
export interface MatchItem {
  id: string;
  fields: Record<Path, Value>;
}

/** The result of matching a record without a pair. */
export type Match =
  | { kind: 'link'; cardId: string; reason: string }
  | { kind: 'stage'; candidates: Candidate[]; reason: string }
  | { kind: 'new' };
