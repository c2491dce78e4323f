import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
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

/**
 * - `create`, `update`, `delete`, `restore`: of a card or a record, on `side`; a card is deleted by archiving it.
 * - `link`, `unlink`: a record and a card become, or are no longer, a pair.
 * - `agree`: both sides say the same; only the base follows.
 * - `quarantine`, `release`: a pair begins or ends to wait for a removal.
 * - `relate`, `unrelate`: a relation, on `side`, or in the base alone.
 * - `conflict`, `stage`: a person has to decide, on values or on which card it is.
 * - `skip`: nothing is done, and why.
 */
type Action =
  | 'create'
  | 'update'
  | 'delete'
  | 'restore'
  | 'link'
  | 'unlink'
  | 'agree'
  | 'quarantine'
  | 'release'
  | 'relate'
  | 'unrelate'
  | 'conflict'
  | 'stage'
  | 'skip';

/** The state a row was made from; the row is only applied while it holds. */
interface Expectation {
  /** `fields` by path, as the inventory holds them. */
  card?: { there: boolean; fields: Record<Path, Value> };
  /** `fields` by path, as the remote holds them. */
  record?: { there: boolean; fields: Record<Path, Value> };
  /** The record's pair in the sync state: its state, or that there is none. */
  pair?: PairState['kind'] | 'none';
  /** The card must not have become half of another pair. */
  unbound?: boolean;
}

/** A card that a record may be, with what speaks for it. */
export interface Candidate {
  cardId: string;
  /** 0 to 1. */
  score: number;
  why: string;
}

/** A deletion that is taken back: the row that deleted the record, and the key that the record had. */
export interface Restored {
  runId: string;
  no: number;
  remoteId: string;
}

/** One row of a plan. Nothing of it changes once the plan is made. */
export interface PlanRow {
  /** Place in the plan, from 0. */
  no: number;
  action: Action;
  /** Where it writes; null when only the sync state changes, or nothing. */
  side: Side | null;
  remoteId: string | null;
  cardId: string | null;
  /** By path, in the words of the side that is written. */
  diff: Record<Path, { old: Value; new: Value }>;
  reason: string;
  expects: Expectation;
  /** A row that has to be applied before. */
  needs: number | null;
  /** What both sides have agreed on once the row is applied. */
  agreed: Record<Path, Agreed>;
  /** Paths on which nothing is agreed any more. */
  forgets: Path[];
  /** What they had agreed on before, for taking the row back. */
  before: Record<Path, Agreed | null>;
  /** The pair's new state; null leaves it. */
  state: PairState | null;
  /** The state that the pair had before a restore, for taking the row back. */
  was: PairState | null;
  /** The deletion that a new record takes back: it is made with all that the deleted one held. */
  restored: Restored | null;
  /** Pairs that end with this row. */
  drops: string[];
  origin: Origin | null;
  candidates: Candidate[];
  /** The relation of a `relate` or `unrelate`, by the records as the written side names them. */
  link: AgreedLink | null;
  /** The same by the records that speak for the cards, where that is something else. */
  baseLink: AgreedLink | null;
  /** The same by cards; null while one of them is made by the same plan, and is known once that row is applied. */
  cards: { relationType: string; source: string; target: string } | null;
  /** The field that a conflict is about; null for the question of removal. */
  path: Path | null;
  /** Of a conflict: the side that has refused the value. */
  refusedBy: Side | null;
  /** Two changes were there, and one of them won. */
  settled: Path[];
  /**
   * By path, what a reference leads to that the same plan makes: a record where it is written here, a card where it is
   * written outside. Its value, and the card or record that it is written to, are known once the rows before have ended.
   * Of a relation: by end (`source`, `target`), the card whose record the same plan makes or links. Where it makes the record,
   * `link` names the card in its place.
   */
  refers: Record<Path, string>;
}

/** What a run is going to do: made once, stored, and never changed. */
export interface Plan {
  id: string;
  mappingId: string;
  /** The moment of what it was made from; RFC 3339. */
  madeAt: string;
  rows: readonly PlanRow[];
  /** Why the plan may not be applied as it is: it would remove too much. Null when it may. */
  stopped: string | null;
  /** What is written into the sync state when all rows have come to an end. */
  closing: { watermark: string | null; again: string[]; absences: Record<string, number> };
}

/** A plan without its rows. */
export type PlanHead = Omit<Plan, 'rows'>;

/** What is to happen to one field of a pair. */
export type FieldOutcome =
  /** Nobody moved it. */
  | { kind: 'same' }
  /** Both sides say the same in their own words; only the base has to follow. */
  | { kind: 'agree'; agreed: Agreed }
  /** `value` goes to `side`; `settled` when it won against a move over there. */
  | { kind: 'write'; side: Side; value: Value; settled: boolean; reason: string }
  /** Moved on both sides, and no rule decides. */
  | { kind: 'conflict'; reason: string }
  /** `side` has refused the value before: a person has to see to it. */
  | { kind: 'refused'; side: Side; reason: string }
  /** It should go to the other side, but the mapping only goes one way. */
  | { kind: 'held'; reason: string }
  /** The value cannot be told on `side`; `awaits`: until this card or record is mapped. */
  | { kind: 'problem'; side: Side; reason: string; settled: boolean; awaits?: string };

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
export interface TrackedRow {
  row: PlanRow;
  progress: Progress;
  approval: 'approved' | 'rejected' | null;
}

/** A row that writes in the inventory, or in the sync state alone. */
export interface LocalStep {
  row: PlanRow;
  /** Null where only the sync state changes. */
  write: LocalWrite | null;
  /** Why the row cannot be applied any more, given the state and how the rows before it ended in this transaction. */
  check: (state: LocalState, ended: ReadonlyMap<number, Progress>) => string | null;
  /** @param left paths that could not be written: nothing is agreed on them. */
  changes: (card: LocalCard | null, left?: ReadonlySet<Path>) => StateChange[];
}

/** How a row has ended, with what it changes in the sync state. */
export interface RowResult {
  row: PlanRow;
  outcome: Outcome;
  changes: StateChange[];
}

/**
 * All that applying needs from outside. Whatever throws, or the end of the process, interrupts the run; the next one
 * goes on from the journal.
 */
export interface EnginePort {
  /** The rows of the plan in their order, some hundred at a time, as they stand when they are reached. */
  rows(): AsyncIterable<readonly TrackedRow[]>;
  /**
   * One transaction, or several where no row builds on another: step by step asks `check` with the state as those before have left it, writes unless it objects, and
   * stores the outcome with the changes of the sync state. What the inventory refuses of one step stops no other.
   * @returns the outcomes in the order of the steps.
   */
  writeLocal(steps: readonly (LocalStep | RowResult)[]): Promise<Outcome[]>;
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
  /** Stores the content of the records that these rows are about to delete, so that the deletions can be undone. */
  storeRemoved?(rows: readonly PlanRow[]): Promise<void>;
  trace(write: RemoteWrite, correlation: string): Promise<Trace>;
  /** One transaction: the outcomes, and what they change in the sync state. */
  finish(endings: readonly RowResult[]): Promise<void>;
  /** One transaction: the plan is done, and what closes it is in the sync state. */
  close(changes: StateChange[]): Promise<void>;
}
