import { type Identities, identities, redirected, unmappedCards } from './book.ts';
import type { Agreed, Book, Pair } from './book.types.ts';
import { indexReading, isCalledGone, type ReadingIndex } from './fate.ts';
import type { Surroundings } from './mapping.transforms.ts';
import type { Mapping, Path, Side } from './mapping.types.ts';
import type { LocalCard, Observation } from './observation.types.ts';
import type { PlanRow } from './plan.types.ts';
import type { Value } from './values.ts';

/** A plan in the making. */
export interface Planning {
  mapping: Mapping;
  book: Book;
  seen: Observation;
  index: ReadingIndex;
  identities: Identities;
  /** All pairs, live or not, by the card they are about today. */
  pairsOf: ReadonlyMap<string, Pair[]>;
  /** Cards that a person took out of the synchronisation. */
  apart: ReadonlySet<string>;
  /** Cards that belong to a record which is back, or may be: no other record is linked to them or made for them. */
  reserved: Set<string>;
  around: Surroundings;
  rows: PlanRow[];
  /** The number of the first row: rows of a plan made in parts are counted through. */
  firstNo: number;
  /** Records to read again next time. */
  again: Set<string>;
  /** Records with values that cannot be told on the other side: known, and judged again once something has changed. */
  waits: Waits;
  /** The same values, field by field, where it is a reference that leads to nothing yet. */
  late: LateField[];
  /** Relations that wait for a mapping that does not run now. */
  resting: number;
  /** New counts of complete readings without a record. */
  absences: Record<string, number>;
}

/** What a record waits for: records and cards that have to be mapped; `value`: another value. */
interface Wait {
  records: Set<string>;
  cards: Set<string>;
  value: boolean;
}

/** Records that wait. */
export type Waits = Map<string, Wait>;

/** A reference to what has no card or record yet, and may get one by the same plan. */
export interface LateField {
  /** Where it is to be written. */
  side: Side;
  path: Path;
  /** Of the pair; the one that the plan is about to make is null. */
  remoteId: string | null;
  cardId: string | null;
  /** The row that makes the pair. */
  needs: number | null;
  /** What the field holds on both sides. */
  held: { local: Value; remote: Value };
  base: Agreed | null;
  settled: boolean;
  /** The record that it leads to; at the remote, the card. */
  awaits: string;
}

/** What a part of a plan is to know of the others. */
export interface PartOptions {
  firstNo?: number;
  /** Who is who beyond the book at hand: cards and records that reference fields lead to. */
  beyond?: Pick<Surroundings, 'cardOf' | 'recordOf' | 'makesCircle'>;
  /** Shared by all parts. */
  reserved?: Set<string>;
}

/** Begins a plan. @param evaluate runs a transform's formula within bounds. */
export function beginPlanning(
  mapping: Mapping,
  book: Book,
  seen: Observation,
  evaluate: Surroundings['evaluate'],
  { firstNo = 0, beyond, reserved = new Set() }: PartOptions = {},
): Planning {
  const known = identities(book, seen.local.redirects);
  const cardOf = (id: string) => known.cardOf(id) ?? beyond?.cardOf(id);
  const index = indexReading(seen.remote);
  const recordOf = (id: string) => {
    const record = known.presentRecordOf(id);
    return record !== undefined && !isCalledGone(index, record) ? record : beyond?.recordOf(id);
  };
  return {
    mapping,
    book,
    seen,
    index,
    identities: known,
    pairsOf: Map.groupBy(book.pairs.values(), ({ cardId }) => redirected(cardId, seen.local.redirects)),
    apart: unmappedCards(book),
    reserved,
    around: { cardOf, recordOf, evaluate, ...(beyond?.makesCircle && { makesCircle: beyond.makesCircle }) },
    rows: [],
    firstNo,
    again: new Set(),
    waits: new Map(),
    late: [],
    resting: 0,
    absences: {},
  };
}

/** A row with what it needs; the rest is empty. */
export type Draft = Pick<PlanRow, 'action' | 'reason'> & Partial<Omit<PlanRow, 'no'>>;

/** A row that says and does nothing. */
export const emptyRow: Omit<PlanRow, 'no' | 'action' | 'reason'> = {
  side: null,
  remoteId: null,
  cardId: null,
  diff: {},
  expects: {},
  needs: null,
  agreed: {},
  forgets: [],
  before: {},
  state: null,
  was: null,
  restored: null,
  drops: [],
  origin: null,
  candidates: [],
  link: null,
  baseLink: null,
  cards: null,
  path: null,
  refusedBy: null,
  settled: [],
  refers: {},
};

/** Adds a row. @returns it, so that others can need it. */
export function addRow(planning: Planning, draft: Draft): PlanRow {
  const row: PlanRow = { ...emptyRow, ...draft, no: planning.firstNo + planning.rows.length };
  planning.rows.push(row);
  return row;
}

/** Notes that a record waits. @param side where its value is to be written. */
export function wait({ waits }: Planning, remoteId: string, side: Side, awaits: string | undefined): void {
  const known = waits.get(remoteId) ?? { records: new Set(), cards: new Set(), value: false };
  waits.set(remoteId, known);
  if (awaits === undefined) known.value = true;
  else known[side === 'local' ? 'records' : 'cards'].add(awaits);
}

/** The base of the paths, with null for those that have none. */
export function baseOf(base: Record<Path, Agreed>, paths: readonly Path[]): Record<Path, Agreed | null> {
  return Object.fromEntries(paths.map((path) => [path, base[path] ?? null]));
}

/** The base of a pair in all mapped fields. */
export function mappedBase({ mapping }: Planning, { base }: Pair): Record<Path, Agreed | null> {
  return baseOf(
    base,
    mapping.fields.map(({ path }) => path),
  );
}

/** The card that a pair is about today, if it is there. */
export function cardOfPair(planning: Planning, cardId: string): LocalCard | undefined {
  const card = planning.seen.local.cards.get(cardId);
  return card && !card.archived ? card : undefined;
}

/** What names a pair in a row. */
export const named = (pair: Pair, cardId: string) => ({ remoteId: pair.remoteId, cardId });
