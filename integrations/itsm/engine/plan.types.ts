import type { Agreed, AgreedLink, Origin, PairState } from './book.types.ts';
import type { Path, Side } from './mapping.types.ts';
import type { Value } from './values.ts';

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
  /** The record's pair in the book: its state, or that there is none. */
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
  /** Where it writes; null when only the book changes, or nothing. */
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
  /** What is written into the book when all rows have come to an end. */
  closing: { watermark: string | null; again: string[]; absences: Record<string, number> };
}

/** A plan without its rows. */
export type PlanHead = Omit<Plan, 'rows'>;

/** Rows that change something; the others only tell. */
export const acts = ({ action }: PlanRow): boolean => !['conflict', 'stage', 'skip'].includes(action);
