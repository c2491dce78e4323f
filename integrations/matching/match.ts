import { type Aspects, aspectsOf } from './aspects.ts';
import { bitsAt } from './bits.ts';
import { type Candidates, candidatesOf } from './candidates.ts';
import { corpusOf } from './corpus.ts';
import { type Compared, learn, oddsOf, probabilitiesOf, type Shape } from './learn.ts';
import type { MatchModel, MatchOptions, MatchPair, MatchRecord, MatchResult } from './matching.types.ts';
import { graphOf } from './rivals.ts';
import { transitivityOf } from './transitivity.ts';

/** Where a comparison is: the share of its work that is done, 0..1. */
export type Progress = number;

const THRESHOLDS = { match: 0.5, possible: 0.1 };
const NEIGHBOURS = 12;
/** Entries of the index that are read for a record at most, in each space. */
const POSTINGS = 4_000;
/** Of two records that match a third, the share that must match each other for matches to be taken as groups. */
const LEAST_TRANSITIVITY = 0.9;
/** Pairs compared between two yields. */
const PAIRS_PER_YIELD = 50_000;

/**
 * Compares two lists of which each record stands for at most one of the other list, and finds the pairs that stand for one
 * thing. No record is in two matches; of two that would, the likelier is a match, the other possible.
 *
 * @throws RangeError when an id comes twice in a list
 */
export const matchLists = (
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  options: MatchOptions,
): MatchResult => finish(matchListsInSteps(left, right, options));

/** As matchLists, in steps of some 100 ms, between which a caller may do other things or give up. */
export function* matchListsInSteps(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  options: MatchOptions,
): Generator<Progress, MatchResult> {
  return yield* run(byId(left), byId(right), options);
}

/** Finds the pairs within one list that stand for one thing, whether they come in twos or in larger groups. */
export const findDuplicates = (records: readonly MatchRecord[], options: MatchOptions): MatchResult =>
  finish(findDuplicatesInSteps(records, options));

/** As findDuplicates, in steps of some 100 ms, between which a caller may do other things or give up. */
export function* findDuplicatesInSteps(
  records: readonly MatchRecord[],
  options: MatchOptions,
): Generator<Progress, MatchResult> {
  return yield* run(byId(records), null, options);
}

function finish<T>(steps: Generator<Progress, T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The records in the order of their ids, so that nothing depends on the order in which they are given. */
function byId(records: readonly MatchRecord[]): MatchRecord[] {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const twice = sorted.find(({ id }, at) => at > 0 && sorted[at - 1]!.id === id);
  if (twice) throw new RangeError(`The id ${JSON.stringify(twice.id)} comes twice.`);
  return sorted;
}

function* run(
  left: MatchRecord[],
  right: MatchRecord[] | null,
  options: MatchOptions,
): Generator<Progress, MatchResult> {
  yield 0;
  const corpus = corpusOf(left, right, options.fields);
  yield 0.1;
  const { aspects, spaces } = aspectsOf(corpus, options.fields);
  yield 0.2;
  const { neighbours = NEIGHBOURS, from = 'both' } = options;
  const reach = { neighbours, postings: POSTINGS, from };
  const candidates = yield* within(0.2, 0.4, candidatesOf(spaces, reach));
  yield 0.4;
  const compared = yield* compare(aspects, candidates, left.length, right?.length ?? null);
  const model = options.model ?? (yield* learnModel(compared, left.length, right?.length ?? null));
  yield 0.9;
  const odds = oddsOf(compared, model);
  const scores = probabilitiesOf(compared.graph, odds, model.exclusive);
  const pairs = pairsOf(left, right ?? left, candidates, compared, model, odds, scores, options);
  return { pairs: classify(pairs, options, right !== null), model, compared: candidates.left.length };
}

function* compare(
  aspects: Aspects['aspects'],
  candidates: Candidates,
  lefts: number,
  rights: number | null,
): Generator<Progress, Compared> {
  const count = candidates.left.length;
  const compared = {
    graph: graphOf(candidates, lefts, rights),
    aspects: aspects.map(({ name, weight }) => ({ name, weight, similarities: new Float32Array(count) })),
  };
  for (let at = 0; at < count; at++) {
    for (const [index, { similarity }] of aspects.entries())
      compared.aspects[index]!.similarities[at] = similarity(candidates.left[at]!, candidates.right[at]!);
    if (at % PAIRS_PER_YIELD === 0) yield 0.4 + (0.3 * at) / count;
  }
  return compared;
}

/**
 * Learns from the pairs. In one list, pairs are first taken as parts of groups; where two records that match a third seldom
 * match each other, what was learned is not identity but likeness, and it is learned again from each record's nearest alone.
 */
function* learnModel(
  compared: Compared,
  lefts: number,
  rights: number | null,
): Generator<Progress, MatchModel> {
  const pairs = compared.graph.left.length;
  if (rights !== null) {
    const shape: Shape = { exclusive: true, degrees: [pairs / lefts, pairs / rights] };
    return { ...(yield* within(0.7, 0.9, learn(compared, shape))), transitivity: 1 };
  }
  const groups = yield* within(0.7, 0.8, learn(compared, { exclusive: false, degrees: null }));
  const transitivity = transitivityOf(
    compared.graph,
    probabilitiesOf(compared.graph, oddsOf(compared, groups), false),
  );
  if (transitivity >= LEAST_TRANSITIVITY) return { ...groups, transitivity };
  const pairwise = yield* within(0.8, 0.9, learn(compared, { exclusive: true, degrees: null }));
  return { ...pairwise, transitivity };
}

/** Runs a part of the work, whose progress takes the whole's from one share to another. */
function* within<T>(from: Progress, to: Progress, part: Generator<Progress, T>): Generator<Progress, T> {
  let step = part.next();
  for (; !step.done; step = part.next()) yield from + (to - from) * step.value;
  return step.value;
}

function pairsOf(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  candidates: Candidates,
  { aspects }: Compared,
  model: MatchModel,
  odds: Float64Array,
  scores: Float64Array,
  { thresholds = THRESHOLDS }: MatchOptions,
): MatchPair[] {
  const pairs: MatchPair[] = [];
  for (const [at, score] of scores.entries()) {
    if (score < Math.min(thresholds.possible, thresholds.match)) continue;
    pairs.push({
      left: left[candidates.left[at]!]!.id,
      right: right[candidates.right[at]!]!.id,
      score: round(score, 6),
      class: 'possible',
      alone: round(odds[at]! / (1 + odds[at]!), 6),
      evidence: aspects.map(({ name, similarities }) => {
        const similarity = similarities[at]!;
        const bits = model.aspects.find(({ aspect }) => aspect === name)?.bits;
        return {
          aspect: name,
          similarity: Number.isNaN(similarity) ? null : round(similarity, 4),
          bits: bits ? round(bitsAt(bits, similarity), 2) : 0,
        };
      }),
    });
  }
  return pairs;
}

/** Sorts the pairs and calls those `match` that reach the threshold; between two lists a record is in one of them only. */
function classify(pairs: MatchPair[], { thresholds = THRESHOLDS }: MatchOptions, once: boolean): MatchPair[] {
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  pairs.sort((a, b) => b.score - a.score || text(a.left, b.left) || text(a.right, b.right));
  const lefts = new Set<string>();
  const rights = new Set<string>();
  for (const pair of pairs) {
    if (pair.score < thresholds.match) break;
    if (once && (lefts.has(pair.left) || rights.has(pair.right))) continue;
    lefts.add(pair.left);
    rights.add(pair.right);
    pair.class = 'match';
  }
  return pairs;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
