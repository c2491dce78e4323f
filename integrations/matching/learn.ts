import { BINS, bitsAt, bitsOf } from './bits.ts';
import { type PairGraph, withRivals } from './rivals.ts';

/** The similarities of the candidate pairs by aspect, NaN if missing. */
export interface Compared {
  graph: PairGraph;
  aspects: ComparedAspect[];
}

export interface ComparedAspect {
  name: string;
  weight: number;
  /** For a rule, which is not learned: by bin, the share of the bits that outweigh all word aspects. */
  rule?: readonly number[];
  /** Whether it compares unique identifiers, such as serial numbers. */
  isCode?: boolean;
  /** Whether only near equality is evidence for a match, since parts of codes are similar by chance. */
  isExact?: boolean;
  /** Whether it compares names; without similar names there is no match. */
  isNaming?: boolean;
  similarities: Float32Array;
}

/** The learned parameters. */
export interface Learned {
  aspects: { aspect: string; bits: number[] }[];
  priorBits: number;
  exclusive: boolean;
}

/** Assumptions about the distribution of matches among the candidates. */
export interface Shape {
  /** Whether a record matches at most one other. */
  exclusive: boolean;
  /** Mean number of pairs per record of the left and the right list; null if most records have no match. */
  degrees: [number, number] | null;
}

const MOST_STEPS = 30;
/** Convergence threshold of the probabilities. */
const SETTLED = 1e-3;
/** Weight of the prior of the sums of matches and non-matches, in pairs. */
const BELIEF = 20;
/** Prior similarities of matches and non-matches, and prior share of matches among candidates. */
const BELIEVED = { matches: 0.65, others: 0.15, share: 0.1 };
/** Weight of the prior share of matches, in pairs. */
const SHARE_BELIEF = 5;
/** Minimum share of records without a match. */
const LEAST_UNMATCHED = 0.02;
/** The first bin of nearly equal codes. */
const NEARLY_EQUAL = 6;
/** Minimum similarity of some name aspect; pairs below it are never matches. */
const LEAST_NAMED = 0.25;
/** Limit of log odds (e^40), so that sums remain finite. */
const MOST_LOG_ODDS = 40;

/**
 * Learns the bits of each aspect without labels, by expectation maximisation: starting from initially probable pairs, it
 * alternates between estimating the distributions of matches and non-matches and the probabilities of pairs until convergence.
 * Yields the share of completed steps.
 */
export function* learn(compared: Compared, shape: Shape): Generator<number, Learned> {
  const { graph, aspects } = compared;
  const shares: number[] = [];
  for (const aspect of aspects) {
    yield 0;
    shares.push(aspect.weight * independence(aspect, aspects));
  }
  let probabilities = initialWeights(compared);
  let model: Learned = { aspects: [], priorBits: 0, exclusive: shape.exclusive };
  for (let step = 0; step < MOST_STEPS; step++) {
    yield step / MOST_STEPS;
    const bits = aspects.map(({ similarities, isExact }) => {
      const learned = bitsOf(similarities, probabilities);
      return isExact ? learned.map((bit, bin) => (bin < NEARLY_EQUAL ? Math.min(0, bit) : bit)) : learned;
    });
    const at = (similarity: number) =>
      bits.reduce((sum, one, index) => sum + shares[index]! * bitsAt(one, similarity), 0);
    const sums = sumsOf(compared, bits, shares);
    const { slope, middle } = separation(sums, probabilities, at(BELIEVED.matches), at(BELIEVED.others));
    const prior = oddsFor(shareOf(probabilities), shape);
    model = {
      ...model,
      aspects: aspects.map(({ name }, index) => ({
        aspect: name,
        bits: Array.from(bits[index]!, (bit) => bit * shares[index]! * slope),
      })),
      priorBits: Math.log2(prior) - slope * middle,
    };
    const next = probabilitiesOf(graph, oddsOf(compared, model), shape.exclusive);
    const change = next.reduce((most, value, at) => Math.max(most, Math.abs(value - probabilities[at]!)), 0);
    probabilities = next;
    if (change < SETTLED) break;
  }
  return model;
}

/** Share of a rule's bits from which on it counts as a contradiction. */
const DECIDED = -0.5;

/** The pairs that no rule decides, with the aspects to be learned. */
export function undecided({ graph, aspects }: Compared): Compared {
  const rules = aspects.filter(({ rule }) => rule);
  const undecidedPairs = [...graph.left.keys()].filter((at) =>
    rules.every(({ rule, similarities }) => bitsAt(rule!, similarities[at]!) > DECIDED),
  );
  const learned = aspects.filter(({ rule }) => !rule);
  if (undecidedPairs.length === graph.left.length) return { graph, aspects: learned };
  return {
    graph: {
      nodes: graph.nodes,
      left: Uint32Array.from(undecidedPairs, (at) => graph.left[at]!),
      right: Uint32Array.from(undecidedPairs, (at) => graph.right[at]!),
    },
    aspects: learned.map((aspect) => ({
      ...aspect,
      similarities: Float32Array.from(undecidedPairs, (at) => aspect.similarities[at]!),
    })),
  };
}

/** Minimum bits of a contradiction, and the margin by which it outweighs all words. */
const LEAST_RULE = 10;
const OUTWEIGHED = 4;

/** Adds the bits of the rules, which exceed the maximum evidence of all aspects except codes. */
export function withRules(
  learned: Learned,
  aspects: readonly Omit<ComparedAspect, 'similarities'>[],
): Learned {
  const codes = new Set(aspects.filter(({ isCode }) => isCode).map(({ name }) => name));
  const most = learned.aspects
    .filter(({ aspect }) => !codes.has(aspect))
    .reduce((sum, { bits }) => sum + Math.max(0, bits[BINS - 1]!), learned.priorBits);
  const strength = Math.max(LEAST_RULE, most + OUTWEIGHED);
  const ruled = aspects.flatMap(({ name, rule }) =>
    rule ? [{ aspect: name, bits: rule.map((part) => part * strength) }] : [],
  );
  return { ...learned, aspects: [...learned.aspects, ...ruled] };
}

/** The odds of each pair without rivals; 0 without similar names. */
export function oddsOf(
  { graph, aspects }: Compared,
  model: Pick<Learned, 'aspects' | 'priorBits'>,
): Float64Array {
  const bits = Float64Array.from(graph.left, () => model.priorBits);
  for (const { aspect, bits: learned } of model.aspects) {
    const similarities = aspects.find(({ name }) => name === aspect)?.similarities;
    if (similarities)
      for (let at = 0; at < bits.length; at++) bits[at]! += bitsAt(learned, similarities[at]!);
  }
  const naming = aspects
    .filter(({ isNaming }) => isNaming)
    .map(({ similarities, isExact }) => ({
      similarities,
      least: isExact ? NEARLY_EQUAL / BINS : LEAST_NAMED,
    }));
  const isNamed = (at: number) =>
    naming.length === 0 || naming.some(({ similarities, least }) => similarities[at]! >= least);
  return bits.map((bit, at) => (isNamed(at) ? Math.exp(Math.min(MOST_LOG_ODDS, bit * Math.LN2)) : 0));
}

/** Converts odds to probabilities, with or without rivals. */
export function probabilitiesOf(graph: PairGraph, odds: Float64Array, exclusive: boolean): Float64Array {
  return exclusive ? withRivals(graph, odds) : odds.map((odd) => odd / (1 + odd));
}

/**
 * The independence of an aspect: 1 divided by the sum of its correlations with all aspects including itself. Without it,
 * redundant fields would be counted twice.
 */
function independence({ similarities }: Compared['aspects'][0], aspects: Compared['aspects']): number {
  return (
    1 /
    aspects.reduce((sum, other) => {
      const same = other.similarities === similarities;
      return sum + (same ? 1 : Math.max(0, correlation(similarities, other.similarities)));
    }, 0)
  );
}

/** Pearson's correlation over the pairs with both values; 0 if undefined. */
function correlation(a: Float32Array, b: Float32Array): number {
  let [count, sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at]!, b[at]!];
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    count++;
    sumA += x;
    sumB += y;
    squaresA += x * x;
    squaresB += y * y;
    products += x * y;
  }
  const spread = (squaresA - (sumA * sumA) / count) * (squaresB - (sumB * sumB) / count);
  return count >= BELIEF && spread > 1e-9 ? (products - (sumA * sumB) / count) / Math.sqrt(spread) : 0;
}

/** Bins of the histogram for the gap search: their number, the first possible bin of a gap, and its minimum width. */
const GAP_BINS = 20;
const FIRST_GAP = 5;
const GAP = 3;
/** Minimum pairs of the fullest bin above a gap, and maximum share of these within the gap. */
const LEAST_BEYOND = 10;
const MOST_IN_GAP = 0.1;

/**
 * The similarity of a gap that separates the pairs of a list into two groups; undefined if there is none.
 */
function gapIn(likeness: Float64Array): number | undefined {
  const counts = new Float64Array(GAP_BINS);
  for (const alike of likeness) counts[Math.min(GAP_BINS - 1, Math.floor(alike * GAP_BINS))]!++;
  for (let bin = FIRST_GAP; bin + GAP < GAP_BINS; bin++) {
    const before = Math.max(...counts.slice(0, bin));
    const within = Math.max(...counts.slice(bin, bin + GAP));
    const beyond = Math.max(...counts.slice(bin + GAP));
    // unrelated records without a common piece are not among the pairs
    if (beyond >= LEAST_BEYOND && within <= MOST_IN_GAP * Math.min(Math.max(1, before), beyond))
      return (bin + GAP / 2) / GAP_BINS;
  }
  return undefined;
}

/** The weighted mean similarity of each pair over some aspects; 0 if all are missing. */
function meansOf({ graph: { left }, aspects }: Compared): Float64Array {
  return Float64Array.from(left, (_, at) => {
    let [sum, weights] = [0, 0];
    for (const { similarities, weight } of aspects) {
      if (Number.isNaN(similarities[at]!)) continue;
      sum += similarities[at]! * weight;
      weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
  });
}

/**
 * The mean similarity of initially probable pairs, 0 for others: pairs above a gap in the similarity of names, regardless of
 * the cluster size; without a gap, mutual nearest neighbours.
 */
function initialWeights(compared: Compared): Float64Array {
  const { graph, aspects } = compared;
  const means = meansOf(compared);
  const named = meansOf({
    graph,
    aspects: aspects.flatMap((aspect) => (aspect.isNaming && !aspect.isCode ? { ...aspect, weight: 1 } : [])),
  });
  const gap = gapIn(named);
  if (gap !== undefined) return means.map((mean, at) => (named[at]! >= gap ? mean : 0));
  const best = new Float64Array(graph.nodes);
  for (const [at, mean] of means.entries())
    for (const node of [graph.left[at]!, graph.right[at]!]) best[node] = Math.max(best[node]!, mean);
  return means.map((mean, at) =>
    mean === best[graph.left[at]!] && mean === best[graph.right[at]!] ? mean : 0,
  );
}

function sumsOf({ graph, aspects }: Compared, bits: Float64Array[], shares: number[]): Float64Array {
  const sums = new Float64Array(graph.left.length);
  for (const [index, { similarities }] of aspects.entries())
    for (let at = 0; at < sums.length; at++)
      sums[at]! += shares[index]! * bitsAt(bits[index]!, similarities[at]!);
  return sums;
}

/**
 * Fits two normal distributions of equal variance to the sums of matches and non-matches: the odds double every 1/`slope`, and
 * are even at `middle`.
 */
function separation(sums: Float64Array, probabilities: Float64Array, high: number, low: number) {
  const spread = Math.max(1e-6, (high - low) / 4);
  let [matches, others, sumMatches, sumOthers] = [BELIEF, BELIEF, BELIEF * high, BELIEF * low];
  for (let at = 0; at < sums.length; at++) {
    const probability = probabilities[at]!;
    matches += probability;
    others += 1 - probability;
    sumMatches += probability * sums[at]!;
    sumOthers += (1 - probability) * sums[at]!;
  }
  const meanMatches = sumMatches / matches;
  const meanOthers = sumOthers / others;
  let squares = BELIEF * (2 * spread * spread + (high - meanMatches) ** 2 + (low - meanOthers) ** 2);
  for (let at = 0; at < sums.length; at++) {
    const probability = probabilities[at]!;
    squares +=
      probability * (sums[at]! - meanMatches) ** 2 + (1 - probability) * (sums[at]! - meanOthers) ** 2;
  }
  const variance = squares / (matches + others);
  return {
    slope: Math.max(0, meanMatches - meanOthers) / variance / Math.LN2,
    middle: (meanMatches + meanOthers) / 2,
  };
}

/** The share of matches among the pairs. */
const shareOf = (probabilities: Float64Array): number =>
  (probabilities.reduce((sum, probability) => sum + probability, 0) + SHARE_BELIEF * BELIEVED.share) /
  (probabilities.length + SHARE_BELIEF);

/**
 * The prior odds of a pair for a share of matches p. With rivals, the odds have to be higher for the same share: if all records
 * have the same number of pairs, they are p(1-p) / ((1-mp)(1-np)) for m and n pairs per record.
 */
function oddsFor(share: number, { degrees }: Shape): number {
  const bounded = Math.min(0.99, share);
  if (!degrees) return bounded / (1 - bounded);
  const [m, n] = degrees.map((degree) => Math.max(LEAST_UNMATCHED, 1 - degree * bounded)) as [number, number];
  return (bounded * (1 - bounded)) / (m * n);
}
