import { pack, packNumbers, unpack, unpackNumbers } from '../../../platform/pack.ts';
import { release } from '../../../platform/release.ts';
import { type Candidates, type Neighbours, NOBODY } from './candidates.ts';
import type { MatchModel, MatchRecord } from './matching.types.ts';
import { modelId } from './models.ts';
import { finish } from './numbers.ts';
import {
  allNeighbours,
  type Comparison,
  neighboursOf,
  type Progress,
  pairsIn,
  searchesOf,
  similaritiesOf,
  within,
} from './stages.ts';

type Packed = Uint8Array<ArrayBuffer>;

/** Changed records processed between two yields. */
const SOUGHT_PER_YIELD = 250;

/** The result of a run over one list, for an incremental next run; plain data. */
export interface Snapshot {
  /** The modelId of its model; it is only valid for this model. */
  model: string;
  /** Ascending. */
  ids: string[];
  /** By record, see digestOf. */
  digests: string[];
  /** By space. */
  neighbours: Neighbours[];
  candidates: Candidates;
  /** By aspect, packed. */
  similarities: Packed[];
}

/** The work of an incremental run. */
export interface Work {
  /** New or changed records. */
  changed: number;
  /** Records whose neighbours were searched. */
  searched: number;
  /** Pairs that were compared. */
  compared: number;
}

/** The pairs of a run, with what a next run needs. */
export type FoundPairs = Pick<Snapshot, 'neighbours' | 'candidates'> & {
  /** By aspect. */
  similarities: Float32Array[];
  work: Work;
};

/** Finds and compares the pairs of one list. */
export function* newPairs(comparison: Comparison): Generator<Progress, FoundPairs> {
  const { left: records } = comparison;
  const neighbours = yield* within(0, 0.5, allNeighbours(comparison));
  const candidates = pairsIn(neighbours);
  const similarities = yield* within(0.5, 1, similaritiesOf(comparison, candidates));
  const work = { changed: records.length, searched: records.length, compared: candidates.left.length };
  return { neighbours, candidates, similarities, work };
}

/**
 * Updates the pairs of a snapshot incrementally, with the same result as finding them from scratch. Neighbours are searched for
 * changed records, for records with a changed or removed neighbour, and for records to which a changed one is nearer than their
 * farthest neighbour; only new pairs and pairs of changed records are compared.
 *
 * @param digests of the records, see digestOf.
 * @throws RangeError if the snapshot is of another model
 */
export function* updatedPairs(
  previous: Snapshot,
  comparison: Comparison,
  digests: readonly string[],
  model: MatchModel,
): Generator<Progress, FoundPairs> {
  if (previous.model !== modelId(model)) throw new RangeError('The snapshot is of another model.');
  const { left: records } = comparison;
  const { before, now } = placesOf(previous, records, digests);
  const changed = [...before.keys()].filter((row) => before[row] === NOBODY);
  const reused = previous.neighbours.map((near) => moved(near, previous.ids.length, before, now));
  yield 0.1;
  const again = new Set(changed);
  for (const [space, makeSearch] of searchesOf(comparison).entries()) {
    const { lost, bounds } = reused[space]!;
    const search = makeSearch();
    for (const row of lost) again.add(row);
    for (const [at, row] of changed.entries()) {
      if (at % SOUGHT_PER_YIELD === 0) yield 0.1 + (0.5 * (space + at / changed.length)) / reused.length;
      for (const other of search.sought(row, bounds)) again.add(other);
    }
    search.end();
  }
  const rows = [...again].sort((a, b) => a - b);
  const found = yield* neighboursOf(searchesOf(comparison), Uint32Array.from(rows));
  const neighbours = found.map((found, space) =>
    overlaid(reused[space]!, rows, found, comparison.reach.neighbours),
  );
  yield 0.7;
  const candidates = pairsIn(neighbours);
  const { similarities, compared } = similaritiesFrom(previous, comparison, candidates, before);
  const work = { changed: changed.length, searched: rows.length, compared };
  return { neighbours, candidates, similarities, work };
}

/** A snapshot whose arrays are packed. */
type PackedSnapshot = Pick<Snapshot, 'model' | 'ids' | 'digests'> & {
  nearest: [rows: Uint8Array, bounds: Uint8Array][];
  pairs: [left: Uint8Array, right: Uint8Array];
  similar: Packed[];
};

/** Packs a snapshot array by array, so that it needs little more memory. */
export function packSnapshot({ neighbours, candidates, similarities, ...head }: Snapshot): Packed {
  const packed: PackedSnapshot = {
    ...head,
    nearest: neighbours.map(({ rows, bounds }) => [packNumbers(rows), packNumbers(bounds)]),
    pairs: [packNumbers(candidates.left), packNumbers(candidates.right)],
    similar: similarities,
  };
  return pack(packed);
}

/** A packed snapshot; undefined if it is of another version of the service. */
export function unpackSnapshot(packed: Uint8Array | null): Snapshot | undefined {
  const found = unpack<PackedSnapshot>(packed);
  if (!found?.pairs) return undefined;
  const { model, ids, digests, nearest, pairs, similar } = found;
  return {
    ...{ model, ids, digests },
    neighbours: nearest.map(([rows, bounds]) => ({
      rows: unpackNumbers(rows, Uint32Array),
      bounds: unpackNumbers(bounds, Float64Array),
    })),
    candidates: {
      left: unpackNumbers(pairs[0], Uint32Array),
      right: unpackNumbers(pairs[1], Uint32Array),
    },
    similarities: similar,
  };
}

/** The former row of each row, and the current row of each former row; NOBODY if it is changed, new or removed. */
function placesOf(previous: Snapshot, records: readonly MatchRecord[], digests: readonly string[]) {
  const known = new Map(previous.ids.map((id, row) => [id, row]));
  const before = new Uint32Array(records.length).fill(NOBODY);
  const now = new Uint32Array(previous.ids.length).fill(NOBODY);
  for (const [row, { id }] of records.entries()) {
    const was = known.get(id);
    if (was === undefined || previous.digests[was] !== digests[row]) continue;
    before[row] = was;
    now[was] = row;
  }
  return { before, now };
}

interface ReusedNeighbours extends Neighbours {
  /** Rows with a changed or removed neighbour. */
  lost: number[];
}

/** Translates neighbours to the current row numbers. */
function moved(
  { rows, bounds }: Neighbours,
  count: number,
  before: Uint32Array,
  now: Uint32Array,
): ReusedNeighbours {
  const k = count > 0 ? rows.length / count : 0;
  const reused: ReusedNeighbours = {
    rows: new Uint32Array(before.length * k).fill(NOBODY),
    bounds: new Float64Array(before.length),
    lost: [],
  };
  for (const [row, was] of before.entries()) {
    if (was === NOBODY) continue;
    reused.bounds[row] = bounds[was]!;
    let isWhole = true;
    for (let at = 0; at < k; at++) {
      const other = rows[was * k + at]!;
      if (other === NOBODY) break;
      reused.rows[row * k + at] = now[other]!;
      if (now[other] === NOBODY) isWhole = false;
    }
    if (!isWhole) reused.lost.push(row);
  }
  return reused;
}

/** Replaces the neighbours of some rows by new ones. */
function overlaid(
  reused: ReusedNeighbours,
  rows: readonly number[],
  found: Neighbours,
  k: number,
): Neighbours {
  const size = reused.bounds.length * k;
  const all = reused.rows.length === size ? reused.rows : new Uint32Array(size).fill(NOBODY);
  for (const [place, row] of rows.entries()) {
    all.set(found.rows.subarray(place * k, (place + 1) * k), row * k);
    reused.bounds[row] = found.bounds[place]!;
  }
  return { rows: all, bounds: reused.bounds };
}

/** Reuses the similarities of unchanged pairs, and compares the others. */
function similaritiesFrom(
  { candidates: old, similarities: known }: Snapshot,
  comparison: Comparison,
  candidates: Candidates,
  before: Uint32Array,
): { similarities: Float32Array[]; compared: number } {
  const count = candidates.left.length;
  /** By pair, its former place. */
  const places = new Uint32Array(count).fill(NOBODY);
  const missing: number[] = [];
  let from = 0;
  for (let at = 0; at < count; at++) {
    const [a, b] = [before[candidates.left[at]!]!, before[candidates.right[at]!]!];
    // both are sorted by id, so that the former pairs are visited in order
    while (
      a !== NOBODY &&
      from < old.left.length &&
      (old.left[from]! < a || (old.left[from] === a && b !== NOBODY && old.right[from]! < b))
    )
      from++;
    if (a !== NOBODY && b !== NOBODY && old.left[from] === a && old.right[from] === b) places[at] = from;
    else missing.push(at);
  }
  const found = finish(
    similaritiesOf(comparison, {
      left: Uint32Array.from(missing, (at) => candidates.left[at]!),
      right: Uint32Array.from(missing, (at) => candidates.right[at]!),
    }),
  );
  const similarities = found.map((values, index) => {
    const before = unpackNumbers(known[index]!, Float32Array);
    const all = Float32Array.from(places, (place) => (place === NOBODY ? 0 : before[place]!));
    for (const [place, at] of missing.entries()) all[at] = values[place]!;
    release(before);
    return all;
  });
  return { similarities, compared: missing.length };
}
