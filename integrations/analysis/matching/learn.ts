import { BINS, bitsAt, bitsOf } from './bits.ts';
import { withChanceNames } from './chance.ts';
import { independence } from './independence.ts';
import { type FieldKind, type Prior, RARITY } from './matching.types.ts';
import { Numbers } from './numbers.ts';
import { MOST_OPEN_LOG_ODDS, variantsOpen } from './open-variants.ts';
import trained from './prior.json' with { type: 'json' };
import { priorOf } from './prior.ts';
import { reliabilitiesOf, withReliabilities } from './reliability.ts';
import { groupedOdds, oneToOneProbabilities, type PairGraph, transitivityOf } from './rivals.ts';
import { decisiveness, joinedness, sizeTrust, trustIn } from './trust.ts';

/** The similarities of the candidate pairs by aspect, NaN if missing. */
export interface Compared {
  graph: PairGraph;
  aspects: ComparedAspect[];
}

/** One respect in which records are compared. */
export interface AspectTraits {
  name: string;
  /** That of its field; absent for aspects of several fields. */
  kind?: FieldKind;
  weight: number;
  /** For a rule, which is not learned: by bin, the share of the bits that outweigh all word aspects. */
  rule?: readonly number[];
  /** Whether it compares unique identifiers, such as serial numbers. */
  isCode?: boolean;
  /** Whether only near equality is evidence for a match, since parts of codes are similar by chance. */
  isExact?: boolean;
  /** Whether it compares names; without similar names there is no match. */
  isNaming?: boolean;
}

interface ComparedAspect extends AspectTraits {
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

/** Minimum transitivity of matches for them to be treated as groups. */
const LEAST_TRANSITIVITY = 0.9;
/** Number of third records per match from which on matches are groups at any transitivity. */
const LEAST_THIRDS = 0.5;
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
export const LEAST_NAMED = 0.25;
/** Limit of the bits of equal values in one aspect: no list shows that it is stronger evidence. */
const MOST_BITS = 20;
/** Limit of log odds (e^40), so that sums remain finite. */
const MOST_LOG_ODDS = 40;

/**
 * Learns the bits of each aspect without labels, by expectation maximisation: starting from the prior, it alternates between
 * estimating the distributions of matches and non-matches and the probabilities of pairs until convergence. The result is
 * between the prior and what was estimated, see trustIn and decisiveness. Yields the share of completed steps.
 */
export function* learn(compared: Compared, shape: Shape, known: Prior = trained): Generator<number, Learned> {
  yield 0;
  const prior = { ...shiftedPrior(compared, known), exclusive: shape.exclusive };
  const estimate = estimator(compared, shape, prior);
  const runs = shape.exclusive ? 2 : 1;
  const confirmed = yield* learnFrom(prior, estimate, compared, trustIn, (share) => share / runs);
  if (!shape.exclusive) return confirmed.model;
  const free = yield* learnFrom(prior, estimate, compared, sizeTrust, (share) => (1 + share) / runs);
  const trust = decisiveness(free.probabilities);
  const joined = shape.degrees ? 1 : joinedness(free.probabilities, compared.graph.nodes);
  return between(confirmed.model, free.model, trust * joined);
}

/** Alternates between estimates of model and probabilities; `trust` is the weight of the list's own model. */
function* learnFrom(
  prior: Learned,
  estimate: (probabilities: Float64Array) => Learned,
  compared: Compared,
  trust: (own: Float64Array, prior: Float64Array) => number,
  progress: (share: number) => number,
): Generator<number, { model: Learned; probabilities: Float64Array }> {
  const pairs = compared.graph.left.length;
  const expected = modelProbabilities(compared, prior, new Float64Array(pairs));
  let probabilities = expected;
  // of long lists these arrays are large: each is used again
  let free = new Float64Array(pairs);
  let model = prior;
  for (let step = 0; step < MOST_STEPS; step++) {
    yield progress(step / MOST_STEPS);
    const own = estimate(probabilities);
    model = between(prior, own, trust(modelProbabilities(compared, own, free), expected));
    const next = modelProbabilities(compared, model, free);
    const change = next.reduce((most, value, at) => Math.max(most, Math.abs(value - probabilities[at]!)), 0);
    free = probabilities === expected ? new Float64Array(pairs) : probabilities;
    probabilities = next;
    if (change < SETTLED) break;
  }
  return { model, probabilities };
}

/** Learns from one list, in which matches form groups of any size or, if they are not transitive, exclude each other. */
export function* learnList(
  compared: Compared,
  known?: Prior,
): Generator<number, { learned: Learned; transitivity: number }> {
  const groups = yield* learn(compared, { exclusive: false, degrees: null }, known);
  const found = new Float64Array(compared.graph.left.length);
  const { transitivity, thirds } = transitivityOf(
    compared.graph,
    modelProbabilities(compared, groups, found),
  );
  if (transitivity >= LEAST_TRANSITIVITY || thirds >= LEAST_THIRDS) return { learned: groups, transitivity };
  const rivals = yield* learn(compared, { exclusive: true, degrees: null }, known);
  return { learned: withMatchedShare(rivals, compared, found), transitivity };
}

/** The share of matched records in most lists of the training, and the maximum for a list. */
const MATCHED = { expected: 0.2, most: 0.75 };

/**
 * Of records of which each matches at most one other, and a share q some other, the odds of a pair are its share of pairs divided
 * by (1 - q)²: both records must have no other match. The prior was trained with a usual share.
 */
function withMatchedShare(learned: Learned, compared: Compared, found: Float64Array<ArrayBuffer>): Learned {
  const matches = modelProbabilities(compared, learned, found).reduce(
    (sum, probability) => sum + probability,
    0,
  );
  const matched = Math.min(MATCHED.most, (2 * matches) / Math.max(1, compared.graph.nodes));
  return { ...learned, priorBits: learned.priorBits + 2 * Math.log2((1 - MATCHED.expected) / (1 - matched)) };
}

/** The model with less evidence for names that are equal by chance, see withChanceNames. */
export function withoutChance(compared: Compared, learned: Learned, known: Prior = trained): Learned {
  const found = modelProbabilities(compared, learned, new Float64Array(compared.graph.left.length));
  const expected = priorOf(known, compared.aspects).aspects.map(({ matches }) => matches);
  return withChanceNames(compared.aspects, learned, found, expected);
}

/** Returns a function that estimates a model from the probabilities of pairs. */
function estimator(
  { graph, aspects: all }: Compared,
  shape: Shape,
  prior: Learned,
): (probabilities: Float64Array) => Learned {
  const aspects = all.filter(({ name }) => name !== RARITY);
  const compared = { graph, aspects };
  const shares = aspects.map((aspect) => aspect.weight * independence(aspect, aspects));
  const coverage = aspects.map(({ similarities }) => shareOf(similarities, (value) => !Number.isNaN(value)));
  const sums = new Float64Array(compared.graph.left.length);
  return (probabilities) => {
    const bits = aspects.map(({ similarities, isExact }) => {
      const learned = bitsOf(similarities, probabilities);
      return isExact ? learned.map((bit, bin) => (bin < NEARLY_EQUAL ? Math.min(0, bit) : bit)) : learned;
    });
    // an aspect that few pairs have adds little to their sums
    const at = (similarity: number) =>
      bits.reduce((sum, one, index) => sum + shares[index]! * coverage[index]! * bitsAt(one, similarity), 0);
    sumsOf(compared, bits, shares, sums);
    const { slope: found, middle } = separation(
      sums,
      probabilities,
      at(BELIEVED.matches),
      at(BELIEVED.others),
    );
    const strongest = bits.reduce(
      (most, one, index) => (aspects[index]!.isCode ? most : Math.max(most, shares[index]! * one[BINS - 1]!)),
      0,
    );
    const slope = Math.min(found, MOST_BITS / strongest);
    return {
      aspects: all.map((aspect, place) => {
        const index = aspects.indexOf(aspect);
        // rarity is no similarity: what the name itself does not say is only known from other lists
        const own =
          index < 0
            ? prior.aspects[place]!.bits.map((bit) => Math.min(0, bit))
            : Array.from(bits[index]!, (bit) => bit * shares[index]! * slope);
        return { aspect: aspect.name, bits: own };
      }),
      priorBits: Math.log2(oddsFor(matchesIn(probabilities), shape)) - slope * middle,
      exclusive: shape.exclusive,
    };
  };
}

const SHIFT_STEPS = 15;
/** Weight of the prior share of matches in a list, in pairs, relative to that of the training lists; and of the shift. */
const SHIFT_BELIEF = { pairs: 100, share: 0.2, weight: 0.5 };

/** The prior, moved half way to the share of matches in these pairs. */
function shiftedPrior(compared: Compared, known: Prior): Pick<Learned, 'aspects' | 'priorBits'> {
  const { share } = known;
  const whole = priorOf(known, compared.aspects);
  const model = withReliabilities(whole, reliabilitiesOf(compared, whole));
  const odds = oddsOf(compared, model).filter((odd) => odd > 0);
  const bits = (part: number) => Math.log2(part / (1 - part));
  let shift = 0;
  for (let step = 0; step < SHIFT_STEPS; step++) {
    const factor = 2 ** shift;
    const matches = odds.reduce((sum, odd) => sum + 1 - 1 / (1 + odd * factor), 0);
    const { pairs, share: part, weight } = SHIFT_BELIEF;
    shift = weight * (bits((matches + pairs * share * part) / (odds.length + pairs)) - bits(share));
  }
  return { ...model, priorBits: model.priorBits + shift };
}

/** The weighted mean of two models of the same aspects. */
function between(prior: Learned, own: Learned, weight: number): Learned {
  const mean = (a: number, b: number) => a * (1 - weight) + b * weight;
  return {
    aspects: own.aspects.map(({ aspect, bits }, index) => ({
      aspect,
      bits: bits.map((bit, bin) => mean(prior.aspects[index]!.bits[bin]!, bit)),
    })),
    priorBits: mean(prior.priorBits, own.priorBits),
    exclusive: own.exclusive,
  };
}

/** Share of a rule's bits from which on it counts as a contradiction. */
const DECIDED = -0.5;

/** The pairs that no rule decides, with the aspects to be learned. */
export function undecided({ graph, aspects }: Compared): Compared {
  const rules = aspects.filter(({ rule }) => rule);
  const learned = aspects.filter(({ rule }) => !rule);
  const open = new Numbers();
  for (let at = 0; at < graph.left.length; at++)
    if (rules.every(({ rule, similarities }) => bitsAt(rule!, similarities[at]!) > DECIDED)) open.push(at);
  if (open.length === graph.left.length) return { graph, aspects: learned };
  const pairs = open.items();
  return {
    graph: {
      nodes: graph.nodes,
      left: pairs.map((at) => graph.left[at]!),
      right: pairs.map((at) => graph.right[at]!),
    },
    aspects: learned.map((aspect) => {
      const similarities = new Float32Array(pairs.length);
      for (let place = 0; place < pairs.length; place++)
        similarities[place] = aspect.similarities[pairs[place]!]!;
      return { ...aspect, similarities };
    }),
  };
}

/** Minimum bits of a contradiction, and the margin by which it outweighs all words. */
const LEAST_RULE = 10;
const OUTWEIGHED = 4;

/** Adds the bits of the rules; contradictions exceed the maximum evidence of all aspects except codes. */
export function withRules(learned: Learned, aspects: readonly AspectTraits[]): Learned {
  const codes = new Set(aspects.filter(({ isCode }) => isCode).map(({ name }) => name));
  const most = learned.aspects
    .filter(({ aspect }) => !codes.has(aspect))
    .reduce((sum, { bits }) => sum + Math.max(0, bits[BINS - 1]!), learned.priorBits);
  const strength = Math.max(LEAST_RULE, most + OUTWEIGHED);
  const ruled = aspects.flatMap(({ name, rule }) =>
    rule ? [{ aspect: name, bits: rule.map((part) => part * (part > DECIDED ? LEAST_RULE : strength)) }] : [],
  );
  return { ...learned, aspects: [...learned.aspects, ...ruled] };
}

/**
 * The odds of each pair without rivals; 0 without similar names.
 * @param bits the array to which they are written.
 */
export function oddsOf(
  { graph, aspects }: Compared,
  model: Pick<Learned, 'aspects' | 'priorBits'>,
  bits: Float64Array<ArrayBuffer> = new Float64Array(graph.left.length),
): Float64Array<ArrayBuffer> {
  bits.fill(model.priorBits);
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
  const isOpen = variantsOpen(aspects);
  for (let at = 0; at < bits.length; at++) {
    const most = isOpen(at) ? MOST_OPEN_LOG_ODDS : MOST_LOG_ODDS;
    bits[at] = isNamed(at) ? Math.exp(Math.min(most, bits[at]! * Math.LN2)) : 0;
  }
  return bits;
}

/** Converts odds to probabilities, with rivals or within groups. */
export function probabilitiesOf(graph: PairGraph, odds: Float64Array, exclusive: boolean): Float64Array {
  if (exclusive) return oneToOneProbabilities(graph, odds.slice());
  return groupedOdds(graph, odds).map((odd) => odd / (1 + odd));
}

/** The probabilities of pairs by a model, written to `found`. */
function modelProbabilities(
  compared: Compared,
  model: Learned,
  found: Float64Array<ArrayBuffer>,
): Float64Array<ArrayBuffer> {
  const odds = oddsOf(compared, model, found);
  if (model.exclusive) return oneToOneProbabilities(compared.graph, odds);
  for (let at = 0; at < odds.length; at++) odds[at]! /= 1 + odds[at]!;
  return odds;
}

/** The sums of the bits of each pair, written to `sums`. */
function sumsOf(
  { aspects }: Compared,
  bits: Float64Array[],
  shares: number[],
  sums: Float64Array,
): Float64Array {
  sums.fill(0);
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

/** The share of values for which a condition holds; 0 without values. */
const shareOf = (values: Float32Array, holds: (value: number) => boolean): number =>
  values.reduce((sum, value) => sum + (holds(value) ? 1 : 0), 0) / Math.max(1, values.length);

/** The share of matches among the pairs. */
const matchesIn = (probabilities: Float64Array): number =>
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
