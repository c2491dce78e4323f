import { BINS } from '../../../integrations/analysis/matching/bits.ts';
import { LEAST_NAMED, undecided } from '../../../integrations/analysis/matching/learn.ts';
import type { Prior } from '../../../integrations/analysis/matching/matching.types.ts';
import { finish } from '../../../integrations/analysis/matching/numbers.ts';
import { priorShares } from '../../../integrations/analysis/matching/prior.ts';
import {
  allNeighbours,
  comparedOf,
  comparisonInSteps,
  pairsBetween,
  pairsIn,
  similaritiesOf,
} from '../../../integrations/analysis/matching/stages.ts';
import { type Judged, pairKey } from './judged.ts';

/** The pairs of a list that training uses: by aspect its kind, share and similarities; and which pairs are true. */
export interface Sample {
  aspects: { kind: string; share: number; similarities: Float32Array }[];
  rows: number[];
  truth: Uint8Array;
}

/** The candidate pairs of a judged list that no rule decides and whose names are similar. */
export function sampleOf({ left, right, fields, truth }: Judged): Sample {
  const comparison = finish(comparisonInSteps(left, right, { fields }));
  const candidates = right ? finish(pairsBetween(comparison)) : pairsIn(finish(allNeighbours(comparison)));
  const compared = undecided(
    comparedOf(comparison, candidates, finish(similaritiesOf(comparison, candidates))),
  );
  const { graph, aspects } = compared;
  const off = right ? comparison.left.length : 0;
  const others = comparison.right ?? comparison.left;
  const naming = aspects.filter(({ isNaming }) => isNaming);
  const rows = [...graph.left.keys()].filter(
    (at) => naming.length === 0 || naming.some(({ similarities }) => similarities[at]! >= LEAST_NAMED),
  );
  const shares = priorShares(aspects);
  return {
    aspects: aspects.map(({ similarities }, at) => ({
      kind: shares[at]!.kind,
      share: shares[at]!.share,
      similarities,
    })),
    rows,
    truth: Uint8Array.from(rows, (at) =>
      truth.has(pairKey(comparison.left[graph.left[at]!]!.id, others[graph.right[at]! - off]!.id)) ? 1 : 0,
    ),
  };
}

const STEPS = 150;
const RATE = 0.2;
const RIDGE = 2e-5;
/** Maximum false pairs per list, which then stand for all of them. */
const MOST_FALSE = 3_000;

/** The pairs of a sample with their weights; those of pair `p` have the entries `starts[p] .. starts[p + 1]`. */
interface Rows {
  starts: Uint32Array;
  /** Places in the vector of bits, and the share of these. */
  places: Uint16Array;
  shares: Float64Array;
  truth: Uint8Array;
  weights: Float64Array;
}

function rowsOf({ aspects, rows, truth }: Sample, kinds: readonly string[]): Rows {
  const falses = truth.length - truth.reduce((count, one) => count + one, 0);
  const every = Math.ceil(falses / MOST_FALSE);
  const kept = [...rows.keys()].filter((place) => truth[place] === 1 || place % every === 0);
  const starts = new Uint32Array(kept.length + 1);
  const places = new Uint16Array(2 * aspects.length * kept.length);
  const shares = new Float64Array(places.length);
  let end = 0;
  const add = (place: number, share: number) => {
    places[end] = place;
    shares[end++] = share;
  };
  for (const [row, place] of kept.entries()) {
    for (const { kind, similarities, share } of aspects) {
      const similarity = similarities[rows[place]!]!;
      if (Number.isNaN(similarity)) continue;
      const spot = Math.min(BINS - 1, Math.max(0, similarity * BINS - 0.5));
      const below = Math.min(BINS - 2, Math.floor(spot));
      const from = 1 + kinds.indexOf(kind) * BINS + below;
      add(from, share * (1 - spot + below));
      add(from + 1, share * (spot - below));
    }
    starts[row + 1] = end;
  }
  const size = Math.sqrt(rows.length);
  return {
    starts,
    places,
    shares,
    truth: Uint8Array.from(kept, (place) => truth[place]!),
    weights: Float64Array.from(kept, (place) => (truth[place] === 1 ? 1 : every) / size),
  };
}

/** Adds the slope of a sample's loss. */
function addSlope({ starts, places, shares, truth, weights }: Rows, bits: Float64Array, slope: Float64Array) {
  for (let row = 0; row < truth.length; row++) {
    let sum = bits[0]!;
    for (let at = starts[row]!; at < starts[row + 1]!; at++) sum += bits[places[at]!]! * shares[at]!;
    const error = weights[row]! * (1 / (1 + 2 ** -sum) - truth[row]!);
    slope[0]! += error;
    for (let at = starts[row]!; at < starts[row + 1]!; at++) slope[places[at]!]! += error * shares[at]!;
  }
}

/** Logistic regression on the bins of similarities, in bits, that never fall when a similarity rises. */
export function train(all: readonly Sample[]): Prior {
  const samples = all.filter(({ rows }) => rows.length > 0);
  const kinds = [...new Set(samples.flatMap(({ aspects }) => aspects.map(({ kind }) => kind)))].sort();
  const size = 1 + kinds.length * BINS;
  const [bits, first, second] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  bits[0] = -4;
  const total = samples.reduce((sum, { rows }) => sum + Math.sqrt(rows.length), 0);
  const lists = samples.map((sample) => rowsOf(sample, kinds));
  for (let step = 1; step <= STEPS; step++) {
    const slope = new Float64Array(size);
    for (const list of lists) addSlope(list, bits, slope);
    // Adam
    const rate = RATE * (step < STEPS / 2 ? 1 : 2 * (1 - step / STEPS) + 0.02);
    for (let at = 0; at < size; at++) {
      const gradient = slope[at]! / total + (at > 0 ? RIDGE * bits[at]! : 0);
      first[at] = 0.9 * first[at]! + 0.1 * gradient;
      second[at] = 0.99 * second[at]! + 0.01 * gradient * gradient;
      bits[at]! -=
        (rate * (first[at]! / (1 - 0.9 ** step))) / (Math.sqrt(second[at]! / (1 - 0.99 ** step)) + 1e-9);
    }
    for (let from = 1; from < size; from += BINS) rising(bits.subarray(from, from + BINS));
  }
  const matches = samples.reduce(
    (sum, { rows, truth }) => sum + truth.reduce((count, one) => count + one, 0) / Math.sqrt(rows.length),
    0,
  );
  const round = (value: number) => Number(value.toFixed(2));
  const byKind: Record<string, number[]> = Object.fromEntries(
    kinds.map((kind, at) => [kind, Array.from(bits.subarray(1 + at * BINS, 1 + (at + 1) * BINS), round)]),
  );
  // unique numbers, of which few training lists have any: equal ones count as those within words
  const { code, codes } = byKind;
  if (code && codes) code[BINS - 1] = Math.max(code[BINS - 1]!, codes[BINS - 1]!);
  return {
    bits: round(bits[0]!),
    share: Number((matches / total).toFixed(4)),
    kinds: byKind,
  };
}

/** Makes values monotonic in place, each pool by its mean. */
function rising(values: Float64Array): void {
  const pools: { sum: number; count: number }[] = [];
  for (const value of values) {
    pools.push({ sum: value, count: 1 });
    while (pools.length > 1) {
      const [before, last] = pools.slice(-2) as [(typeof pools)[0], (typeof pools)[0]];
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.pop();
      before.sum += last.sum;
      before.count += last.count;
    }
  }
  values.set(pools.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count)));
}
