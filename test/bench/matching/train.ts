import { BINS, binOf } from '../../../integrations/analysis/matching/bits.ts';
import { type Compared, LEAST_NAMED, undecided } from '../../../integrations/analysis/matching/learn.ts';
import type { Prior } from '../../../integrations/analysis/matching/matching.types.ts';
import { finish } from '../../../integrations/analysis/matching/numbers.ts';
import { priorOf, priorShares } from '../../../integrations/analysis/matching/prior.ts';
import { reliabilitiesOf, reliableBits } from '../../../integrations/analysis/matching/reliability.ts';
import {
  allNeighbours,
  comparedOf,
  comparisonInSteps,
  pairsBetween,
  pairsIn,
  similaritiesOf,
} from '../../../integrations/analysis/matching/stages.ts';
import { type Judged, pairKey } from './judged.ts';

/**
 * The pairs of a list that training uses: by aspect its kind, share, reliability and similarities; and which pairs are true.
 */
export interface Sample {
  open: Compared;
  aspects: { kind: string; share: number; reliability: number; similarities: Float32Array }[];
  rows: number[];
  truth: Uint8Array;
}

/** The candidate pairs of a judged list that no rule decides and whose names are similar. */
export function sampleOf({ left, right, fields, truth }: Judged): Sample {
  const comparison = finish(comparisonInSteps(left, right, { fields }));
  const candidates = right ? finish(pairsBetween(comparison)) : pairsIn(finish(allNeighbours(comparison)));
  const compared = comparedOf(comparison, candidates, finish(similaritiesOf(comparison, candidates)));
  const off = right ? comparison.left.length : 0;
  const others = comparison.right ?? comparison.left;
  return sampleFrom(compared, (a, b) => truth.has(pairKey(comparison.left[a]!.id, others[b - off]!.id)));
}

/** The sample of compared pairs. */
function sampleFrom(compared: Compared, isTrue: (left: number, right: number) => boolean): Sample {
  const open = undecided(compared);
  const { graph, aspects } = open;
  const naming = aspects.filter(({ isNaming }) => isNaming);
  const rows = [...graph.left.keys()].filter(
    (at) => naming.length === 0 || naming.some(({ similarities }) => similarities[at]! >= LEAST_NAMED),
  );
  const shares = priorShares(aspects);
  return {
    open,
    aspects: aspects.map(({ similarities }, at) => ({ ...shares[at]!, reliability: 1, similarities })),
    rows,
    truth: Uint8Array.from(rows, (at) => (isTrue(graph.left[at]!, graph.right[at]!) ? 1 : 0)),
  };
}

/** The sample with the reliabilities that the aspects have by a prior. */
function weighed(sample: Sample, prior: Prior): Sample {
  const reliabilities = reliabilitiesOf(sample.open, priorOf(prior, sample.open.aspects));
  return {
    ...sample,
    aspects: sample.aspects.map((aspect, at) => ({ ...aspect, reliability: reliabilities[at]! })),
  };
}

/** Rounds of training: the prior depends on how reliable the aspects are in each list, and this on the prior. */
const ROUNDS = 3;

/**
 * The mean of the prior from some lists and of that from these and further ones, which have more equal names of different things than most
 * lists have. It depends on the lists alone: at first all aspects are taken as reliable.
 */
export function trainedFrom(lists: readonly Sample[], further: readonly Sample[]): Prior {
  let [some, others] = [lists, further];
  for (let round = 1; ; round++) {
    const prior = meanOf(train(some), train([...some, ...others]));
    if (round === ROUNDS) return prior;
    [some, others] = [lists, further].map((samples) => samples.map((sample) => weighed(sample, prior))) as [
      Sample[],
      Sample[],
    ];
  }
}

const STEPS = 150;
const RATE = 0.2;
const RIDGE = 2e-5;
/** Maximum false pairs per list, which then stand for all of them. */
const MOST_FALSE = 3_000;

/** The pairs of a sample with their weights; those of pair `p` have the entries `starts[p] .. starts[p + 1]`. */
interface Rows {
  starts: Uint32Array;
  /** Places in the bits of the sample's aspects, and the share of these. */
  places: Uint16Array;
  shares: Float64Array;
  truth: Uint8Array;
  weights: Float64Array;
  aspects: Sample['aspects'];
}

function rowsOf({ aspects, rows, truth }: Sample): Rows {
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
    for (const [index, { similarities }] of aspects.entries()) {
      const similarity = similarities[rows[place]!]!;
      if (Number.isNaN(similarity)) continue;
      const spot = Math.min(BINS - 1, Math.max(0, similarity * BINS - 0.5));
      const below = Math.min(BINS - 2, Math.floor(spot));
      add(index * BINS + below, 1 - spot + below);
      add(index * BINS + below + 1, spot - below);
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
    aspects,
  };
}

/** Adds the slope of a sample's loss. */
function addSlope(
  { starts, places, shares, truth, weights, aspects }: Rows,
  kinds: readonly string[],
  bits: Float64Array,
  slope: Float64Array,
) {
  const size = aspects.length * BINS;
  const [froms, own, rise] = [new Uint16Array(size), new Float64Array(size), new Float64Array(size)];
  for (const [index, { kind, share, reliability }] of aspects.entries())
    for (let bin = 0; bin < BINS; bin++) {
      const at = index * BINS + bin;
      froms[at] = 1 + kinds.indexOf(kind) * BINS + bin;
      const bit = share * bits[froms[at]!]!;
      own[at] = reliableBits(bit, reliability);
      rise[at] = (share * reliability * 2 ** bit) / 2 ** own[at]!;
    }
  for (let row = 0; row < truth.length; row++) {
    let sum = bits[0]!;
    for (let at = starts[row]!; at < starts[row + 1]!; at++) sum += own[places[at]!]! * shares[at]!;
    const error = weights[row]! * (1 / (1 + 2 ** -sum) - truth[row]!);
    slope[0]! += error;
    for (let at = starts[row]!; at < starts[row + 1]!; at++)
      slope[froms[places[at]!]!]! += error * shares[at]! * rise[places[at]!]!;
  }
}

/** Logistic regression on the bins of similarities, in bits, that never fall when a similarity rises. */
function train(all: readonly Sample[]): Prior {
  const samples = all.filter(({ rows }) => rows.length > 0);
  const kinds = [...new Set(samples.flatMap(({ aspects }) => aspects.map(({ kind }) => kind)))].sort();
  const size = 1 + kinds.length * BINS;
  const [bits, first, second] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  bits[0] = -4;
  const total = samples.reduce((sum, { rows }) => sum + Math.sqrt(rows.length), 0);
  const lists = samples.map(rowsOf);
  for (let step = 1; step <= STEPS; step++) {
    const slope = new Float64Array(size);
    for (const list of lists) addSlope(list, kinds, bits, slope);
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
    matches: Object.fromEntries(kinds.map((kind) => [kind, matchShares(samples, kind)])),
  };
}

/** The mean of the bits of two priors; the second adds the share of matches, the first how similar they are. */
function meanOf(one: Prior, other: Prior): Prior {
  const mean = (a: number, b: number) => Number(((a + b) / 2).toFixed(2));
  return {
    ...one,
    share: other.share,
    bits: mean(one.bits, other.bits),
    kinds: Object.fromEntries(
      Object.entries(one.kinds).map(([kind, bits]) => [
        kind,
        bits.map((bit, bin) => mean(bit, other.kinds[kind]![bin]!)),
      ]),
    ),
  };
}

/** Weight of even shares, in lists. */
const EVEN_BELIEF = 0.5;

/** The shares of true pairs by similarity, on average of the lists, as far as the aspect is reliable in these. */
function matchShares(samples: readonly Sample[], kind: string): number[] {
  const sums = Array<number>(BINS).fill(EVEN_BELIEF / BINS);
  let total = EVEN_BELIEF;
  for (const { aspects, rows, truth } of samples)
    for (const aspect of aspects.filter((one) => one.kind === kind)) {
      const counts = Array<number>(BINS).fill(0);
      for (const [place, at] of rows.entries())
        if (truth[place] === 1 && !Number.isNaN(aspect.similarities[at]!))
          counts[binOf(aspect.similarities[at]!)]!++;
      const count = counts.reduce((sum, one) => sum + one, 0);
      if (count === 0) continue;
      const weight = aspect.reliability ** 2 * Math.min(1, count / 20);
      total += weight;
      for (const [bin, one] of counts.entries()) sums[bin]! += (weight * one) / count;
    }
  return sums.map((sum) => Number((sum / total).toFixed(4)));
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
