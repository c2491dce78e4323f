import { BINS } from '../../../integrations/analysis/matching/bits.ts';
import { LEAST_NAMED, undecided } from '../../../integrations/analysis/matching/learn.ts';
import { ALL_WORDS } from '../../../integrations/analysis/matching/matching.types.ts';
import { finish } from '../../../integrations/analysis/matching/numbers.ts';
import { type Prior, priorShares } from '../../../integrations/analysis/matching/prior.ts';
import {
  allNeighbours,
  allSimilarities,
  comparedOf,
  comparisonOf,
  pairsBetween,
  pairsIn,
} from '../../../integrations/analysis/matching/stages.ts';
import { type Judged, pairKey } from './judged.ts';

/** The pairs of a list that training uses: by aspect its kind, share and similarities; and which pairs are true. */
export interface Sample {
  aspects: { kind: string; share: number; similarities: Float32Array }[];
  hasWords: boolean;
  rows: number[];
  truth: Uint8Array;
}

/** The candidate pairs of a judged list that no rule decides and whose names are similar. */
export function sampleOf({ left, right, fields, truth }: Judged): Sample {
  const comparison = comparisonOf(left, right, fields);
  const candidates = right ? finish(pairsBetween(comparison)) : pairsIn(finish(allNeighbours(comparison)));
  const compared = undecided(
    comparedOf(comparison, candidates, finish(allSimilarities(comparison, candidates))),
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
    hasWords: aspects.some(({ name }) => name === ALL_WORDS),
    rows,
    truth: Uint8Array.from(rows, (at) =>
      truth.has(pairKey(comparison.left[graph.left[at]!]!.id, others[graph.right[at]! - off]!.id)) ? 1 : 0,
    ),
  };
}

const STEPS = 150;
const RATE = 0.2;
const RIDGE = 2e-5;

/** Logistic regression on the bins of similarities, in bits, that never fall when a similarity rises. */
export function train(samples: readonly Sample[]): Prior {
  const kinds = [...new Set(samples.flatMap(({ aspects }) => aspects.map(({ kind }) => kind)))].sort();
  const size = 2 + kinds.length * BINS;
  const [bits, first, second] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  bits[0] = bits[1] = -4;
  const total = samples.reduce((sum, { rows }) => sum + Math.sqrt(rows.length), 0);
  for (let step = 1; step <= STEPS; step++) {
    const slope = new Float64Array(size);
    for (const { aspects, hasWords, rows, truth } of samples) {
      const weight = 1 / Math.sqrt(rows.length) / total;
      const offsets = aspects.map(({ kind }) => 2 + kinds.indexOf(kind) * BINS);
      for (const [place, at] of rows.entries()) {
        let sum = bits[hasWords ? 0 : 1]!;
        const spots: [number, number][] = [];
        for (const [index, { similarities, share }] of aspects.entries()) {
          if (Number.isNaN(similarities[at]!)) continue;
          const spot = Math.min(BINS - 1, Math.max(0, similarities[at]! * BINS - 0.5));
          const below = Math.min(BINS - 2, Math.floor(spot));
          const from = offsets[index]! + below;
          spots.push([from, share * (1 - spot + below)], [from + 1, share * (spot - below)]);
        }
        for (const [from, part] of spots) sum += bits[from]! * part;
        const error = weight * (1 / (1 + 2 ** -sum) - truth[place]!);
        slope[hasWords ? 0 : 1]! += error;
        for (const [from, part] of spots) slope[from]! += error * part;
      }
    }
    // Adam
    const rate = RATE * (step < STEPS / 2 ? 1 : 2 * (1 - step / STEPS) + 0.02);
    for (let at = 0; at < size; at++) {
      const gradient = slope[at]! + (at > 1 ? RIDGE * bits[at]! : 0);
      first[at] = 0.9 * first[at]! + 0.1 * gradient;
      second[at] = 0.99 * second[at]! + 0.01 * gradient * gradient;
      bits[at]! -=
        (rate * (first[at]! / (1 - 0.9 ** step))) / (Math.sqrt(second[at]! / (1 - 0.99 ** step)) + 1e-9);
    }
    for (let from = 2; from < size; from += BINS) rising(bits.subarray(from, from + BINS));
  }
  const share = (hasWords: boolean) => {
    const [matches, all] = [0, 1].map((power) =>
      samples
        .filter((sample) => sample.hasWords === hasWords && sample.rows.length > 0)
        .reduce((sum, { rows, truth }) => {
          const size = Math.sqrt(rows.length);
          return sum + (power === 1 ? size : truth.reduce((count, one) => count + one, 0) / size);
        }, 0),
    ) as [number, number];
    return Number((matches / Math.max(1, all)).toFixed(4));
  };
  const round = (value: number) => Number(value.toFixed(2));
  const byKind: Record<string, number[]> = Object.fromEntries(
    kinds.map((kind, at) => [kind, Array.from(bits.subarray(2 + at * BINS, 2 + (at + 1) * BINS), round)]),
  );
  // unique numbers, of which few training lists have any: equal ones count as those within words
  const { code, codes } = byKind;
  if (code && codes) code[BINS - 1] = Math.max(code[BINS - 1]!, codes[BINS - 1]!);
  return {
    withWords: { bits: round(bits[0]!), share: share(true) },
    withoutWords: { bits: round(bits[1]!), share: share(false) },
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
