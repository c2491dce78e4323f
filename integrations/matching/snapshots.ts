import { type Candidates, type Neighbours, NOBODY } from './candidates.ts';
import type { MatchModel, MatchRecord } from './matching.types.ts';
import { modelId } from './models.ts';
import { digestOf } from './records.ts';
import {
  allNeighbours,
  allSimilarities,
  type Comparison,
  neighboursInSteps,
  type Progress,
  pairsIn,
  searchesOf,
  similaritiesOf,
} from './stages.ts';

/** Changed records whose surroundings are looked for between two yields. */
const SOUGHT_PER_YIELD = 250;

/** What a run over one list found, so that the next one does again only what has changed; plain data. */
export interface Snapshot {
  /** The modelId of the model by which it was found; what was found by another is of no use. */
  model: string;
  /** Rising. */
  ids: string[];
  /** By record: what it says, see digestOf. */
  digests: string[];
  /** By space. */
  neighbours: Neighbours[];
  candidates: Candidates;
  /** By aspect. */
  similarities: Float32Array[];
}

/** What was done anew. */
export interface Work {
  /** Records that are new or say something else. */
  changed: number;
  /** Records whose neighbours were looked for. */
  searched: number;
  /** Pairs that were compared. */
  compared: number;
}

/** Everything of one list found anew. */
export function* snapshotOf(
  comparison: Comparison,
  model: MatchModel,
): Generator<Progress, { snapshot: Snapshot; work: Work }> {
  const neighbours = yield* allNeighbours(comparison);
  const candidates = pairsIn(neighbours);
  const similarities = yield* allSimilarities(comparison, candidates);
  const { left: records } = comparison;
  const work = { changed: records.length, searched: records.length, compared: candidates.left.length };
  return { snapshot: snapshotFrom(comparison, model, neighbours, candidates, similarities), work };
}

/** Puts together what the stages found. */
export const snapshotFrom = (
  { left, fields }: Comparison,
  model: MatchModel,
  neighbours: Neighbours[],
  candidates: Candidates,
  similarities: Float32Array[],
): Snapshot => ({
  model: modelId(model),
  ids: left.map(({ id }) => id),
  digests: left.map((record) => digestOf(record, fields)),
  neighbours,
  candidates,
  similarities,
});

/**
 * The snapshot of a list as it is now, from the one of what it was: exactly that which snapshotOf finds. Neighbours are looked
 * for of records that changed, that had one that changed or went, and to which a changed one is nearer than their farthest;
 * only pairs that were not compared before, or of a changed record, are compared.
 *
 * @throws RangeError when the snapshot is not of the model
 */
export function* updatedSnapshot(
  previous: Snapshot,
  comparison: Comparison,
  model: MatchModel,
): Generator<Progress, { snapshot: Snapshot; work: Work }> {
  if (previous.model !== modelId(model)) throw new RangeError('The snapshot is of another model.');
  const { left: records, fields } = comparison;
  const digests = records.map((record) => digestOf(record, fields));
  const { before, now } = placesOf(previous, records, digests);
  const changed = [...before.keys()].filter((row) => before[row] === NOBODY);
  const kept = previous.neighbours.map((near) => moved(near, previous.ids.length, before, now));
  yield 0.1;
  const searches = yield* searchesOf(comparison);
  const again = new Set(changed);
  for (const [space, search] of searches.entries()) {
    for (const row of kept[space]!.lost) again.add(row);
    for (const [at, row] of changed.entries()) {
      if (at % SOUGHT_PER_YIELD === 0) yield 0.1 + (0.5 * (space + at / changed.length)) / searches.length;
      for (const other of search.sought(row, kept[space]!.floors)) again.add(other);
    }
  }
  const rows = [...again].sort((a, b) => a - b);
  const found = yield* neighboursInSteps(searches, Uint32Array.from(rows));
  const neighbours = found.map((found, space) =>
    overlaid(kept[space]!, rows, found, comparison.reach.neighbours),
  );
  yield 0.7;
  const candidates = pairsIn(neighbours);
  const { similarities, compared } = similaritiesFrom(previous, comparison, candidates, before);
  const snapshot = { ...snapshotFrom(comparison, model, neighbours, candidates, similarities), digests };
  return { snapshot, work: { changed: changed.length, searched: rows.length, compared } };
}

/** For each row the one that it was before, and for each of those what it is now; NOBODY where it changed, is new or went. */
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

interface Kept extends Neighbours {
  /** Rows of which a neighbour changed or went. */
  lost: number[];
}

/** Neighbours under the numbers that rows have now. */
function moved({ rows, floors }: Neighbours, count: number, before: Uint32Array, now: Uint32Array): Kept {
  const k = count > 0 ? rows.length / count : 0;
  const kept: Kept = {
    rows: new Uint32Array(before.length * k).fill(NOBODY),
    floors: new Float64Array(before.length),
    lost: [],
  };
  for (const [row, was] of before.entries()) {
    if (was === NOBODY) continue;
    kept.floors[row] = floors[was]!;
    let isWhole = true;
    for (let at = 0; at < k; at++) {
      const other = rows[was * k + at]!;
      if (other === NOBODY) break;
      kept.rows[row * k + at] = now[other]!;
      if (now[other] === NOBODY) isWhole = false;
    }
    if (!isWhole) kept.lost.push(row);
  }
  return kept;
}

/** Kept neighbours with those of some rows found anew. */
function overlaid(kept: Kept, rows: readonly number[], found: Neighbours, k: number): Neighbours {
  const size = kept.floors.length * k;
  const all = kept.rows.length === size ? kept.rows : new Uint32Array(size).fill(NOBODY);
  for (const [place, row] of rows.entries()) {
    all.set(found.rows.subarray(place * k, (place + 1) * k), row * k);
    kept.floors[row] = found.floors[place]!;
  }
  return { rows: all, floors: kept.floors };
}

/** Takes what was known of pairs whose records are both as they were, and compares the others. */
function similaritiesFrom(
  { candidates: old, similarities: known }: Snapshot,
  comparison: Comparison,
  candidates: Candidates,
  before: Uint32Array,
): { similarities: Float32Array[]; compared: number } {
  const count = candidates.left.length;
  const similarities = comparison.aspects.aspects.map(() => new Float32Array(count));
  const missing: number[] = [];
  let from = 0;
  for (let at = 0; at < count; at++) {
    const [a, b] = [before[candidates.left[at]!]!, before[candidates.right[at]!]!];
    // both orders are those of the ids, so that the old pairs are passed in theirs
    while (
      a !== NOBODY &&
      from < old.left.length &&
      (old.left[from]! < a || (old.left[from] === a && b !== NOBODY && old.right[from]! < b))
    )
      from++;
    if (a !== NOBODY && b !== NOBODY && old.left[from] === a && old.right[from] === b)
      for (const [index, values] of similarities.entries()) values[at] = known[index]![from]!;
    else missing.push(at);
  }
  const found = similaritiesOf(comparison, {
    left: Uint32Array.from(missing, (at) => candidates.left[at]!),
    right: Uint32Array.from(missing, (at) => candidates.right[at]!),
  });
  for (const [index, values] of similarities.entries())
    for (const [place, at] of missing.entries()) values[at] = found[index]![place]!;
  return { similarities, compared: missing.length };
}
