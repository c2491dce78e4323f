import { packNumbers } from '../../../platform/pack.ts';
import { release } from '../../../platform/release.ts';
import { bitsAt } from './bits.ts';
import type { Candidates } from './candidates.ts';
import { type DecidedPair, decidedPairs, withDecisions } from './decisions.ts';
import { binShares, type Drift, driftOf, newWordsIn } from './drift.ts';
import {
  type Compared,
  learn,
  learnList,
  oddsOf,
  probabilitiesOf,
  type Shape,
  undecided,
  withoutChance,
  withRules,
} from './learn.ts';
import {
  type Decision,
  type Evidence,
  type MatchField,
  type MatchModel,
  type MatchOptions,
  type MatchPair,
  type MatchRecord,
  type MatchResult,
  MODEL_FORMAT,
  type Prior,
  type Vocabulary,
} from './matching.types.ts';
import { modelId } from './models.ts';
import { finish } from './numbers.ts';
import { digestOf } from './records.ts';
import { setAside } from './set-aside.ts';
import { newPairs, type Snapshot, updatedPairs, type Work } from './snapshots.ts';
import {
  type Comparison,
  comparedOf,
  comparisonInSteps,
  endComparison,
  type Progress,
  pairsBetween,
  similaritiesOf,
  termsOf,
  within,
  withoutValues,
} from './stages.ts';

/** Default minimum scores. */
export const THRESHOLDS = { match: 0.5, possible: 0.1 };

/**
 * Finds the matching pairs of two lists in which each record matches at most one of the other list. No record is in two
 * matches: of two candidates the more probable one is a match, the other is possible.
 *
 * @throws RangeError for duplicate ids in a list
 */
export const matchLists = (
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  options: MatchOptions,
): MatchResult => finish(matchListsInSteps(left, right, options));

/** Like matchLists; yields about every 100 ms, so that the caller can do other work or cancel. */
export function* matchListsInSteps(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  options: MatchOptions,
): Generator<Progress, MatchResult> {
  const pairs = yield* within(0, 0.7, comparedLists(left, right, options));
  const learned = options.model
    ? undefined
    : yield* within(
        0.7,
        0.9,
        learnModel(pairs.facts, pairs.compared, pairs.candidates.left.length, options.prior),
      );
  const model = options.model ?? withDecisions(learned!, pairs.decided);
  return yield* within(0.9, 1, resultOf(pairs, model, options));
}

function* comparedLists(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[],
  options: MatchOptions,
): Generator<Progress, ComparedPairs> {
  const comparison = yield* within(0, 0.3, comparisonInSteps(left, right, options));
  const candidates = yield* within(0.3, 0.7, pairsBetween(comparison, options.from));
  const similarities = yield* within(0.7, 1, similaritiesOf(comparison, candidates));
  const pairs = pairsOf(comparison, candidates, similarities, options.decisions);
  endComparison(comparison);
  return pairs;
}

/** The result for one list, with the data for an incremental next run. */
export interface DuplicatesResult extends MatchResult {
  /** The applied or learned model, without the decisions. */
  base: MatchModel;
  /** The aspects in the order of the evidence. */
  order: string[];
  /** Of `base`. */
  snapshot: Snapshot;
  work: Work;
  /** The drift from the model's training data. */
  drift: Drift;
}

/** Options of one list; decisions also adjust a model that is applied. */
export interface DuplicatesOptions extends MatchOptions {
  /** The snapshot of an earlier run with the same model, which does not change the result. */
  previous?: Snapshot | undefined;
}

type Accepts = (left: string, right: string) => boolean;

/** Finds duplicate pairs within one list, in clusters of any size. */
export const findDuplicates = (
  records: readonly MatchRecord[],
  options: DuplicatesOptions,
): DuplicatesResult => finish(findDuplicatesInSteps(() => records, options));

/**
 * Like findDuplicates; yields about every 100 ms, so that the caller can do other work or cancel.
 * @param takeRecords returns the records, which are not needed any more once their values are extracted.
 * @param accepts whether a pair is of interest; others are compared, but not returned.
 */
export function* findDuplicatesInSteps(
  takeRecords: () => readonly MatchRecord[],
  options: DuplicatesOptions,
  accepts: Accepts = () => true,
): Generator<Progress, DuplicatesResult> {
  const { pairs, neighbours, digests, work } = yield* within(0, 0.75, comparedList(takeRecords, options));
  const { ids, facts, candidates, compared, decided } = pairs;
  const base =
    options.model ??
    (yield* within(0.75, 0.9, learnModel(facts, compared, candidates.left.length, options.prior)));
  const model = withDecisions(base, decided);
  const result = yield* within(0.9, 1, resultOf(pairs, model, options, accepts));
  const shares = compared.aspects.map(({ name, similarities }) => ({
    name,
    shares: binShares(similarities),
  }));
  const packed = compared.aspects.map(({ similarities }) => packNumbers(similarities));
  for (const { similarities } of compared.aspects) release(similarities);
  return {
    ...result,
    base,
    order: compared.aspects.map(({ name }) => name),
    snapshot: {
      ...{ model: modelId(base), ids: ids.left, digests, neighbours, candidates },
      similarities: packed,
    },
    work,
    drift: driftOf(model, shares, facts.newWords),
  };
}

/** Finds and compares the pairs of one list; an earlier snapshot of the model is updated. */
function* comparedList(takeRecords: () => readonly MatchRecord[], options: DuplicatesOptions) {
  const { model, previous, decisions, fields } = options;
  const comparison = yield* within(0, 0.25, comparisonInSteps(takeRecords(), null, options));
  const digests = comparison.left.map((record) => digestOf(record, fields));
  withoutValues(comparison);
  const { work, ...found } = yield* within(
    0.25,
    1,
    model && previous ? updatedPairs(previous, comparison, digests, model) : newPairs(comparison),
  );
  const { neighbours, candidates, similarities } = found;
  const pairs = pairsOf(comparison, candidates, similarities, decisions);
  endComparison(comparison);
  return { pairs, neighbours, digests, work };
}

/** The probability of each pair of records, without rivals, by a model; for few records, since it does not yield. */
export function scorePairs(
  records: readonly MatchRecord[],
  pairs: readonly (readonly [left: string, right: string])[],
  model: MatchModel,
): Float64Array {
  const comparison = finish(comparisonInSteps(records, null, { fields: model.fields, model }));
  const rows = new Map(comparison.left.map(({ id }, row) => [id, row]));
  const candidates: Candidates = {
    left: Uint32Array.from(pairs, ([left]) => rows.get(left)!),
    right: Uint32Array.from(pairs, ([, right]) => rows.get(right)!),
  };
  const compared = comparedOf(comparison, candidates, finish(similaritiesOf(comparison, candidates)));
  return oddsOf(compared, model).map((odd) => odd / (1 + odd));
}

/** The number of records of a list in which words that it does not know are taken as equally rare. */
const UNKNOWN_LIST = 1_000;

/** The prior as a model that was learned from nothing: it knows no words. */
export function priorModel(fields: readonly MatchField[]): MatchModel {
  const { model } = findDuplicates([], { fields });
  const spaces = Object.keys(model.terms);
  const noTerms = { rows: UNKNOWN_LIST, terms: [], counts: [] };
  return { ...model, terms: Object.fromEntries(spaces.map((space) => [space, noTerms])) };
}

/** Candidate pairs with their similarities, and what else is needed of their records. */
interface ComparedPairs {
  /** Ascending. */
  ids: { left: string[]; right: string[] | null };
  candidates: Candidates;
  compared: Compared;
  decided: DecidedPair[];
  facts: Facts;
}

/** What a model takes over from the records. */
interface Facts extends Pick<MatchModel, 'fields' | 'dictionary' | 'terms'> {
  /** The number of records of one or two lists. */
  records: [number] | [number, number];
  vocabulary: Vocabulary | undefined;
  newWords: number;
}

function pairsOf(
  comparison: Comparison,
  candidates: Candidates,
  similarities: readonly Float32Array[],
  decisions?: readonly Decision[],
): ComparedPairs {
  const { left, right, fields, vocabulary, dictionary } = comparison;
  return {
    candidates,
    compared: comparedOf(comparison, candidates, similarities),
    decided: decidedPairs(comparison, decisions ?? []).filter((pair) => pair !== undefined),
    ids: { left: left.map(({ id }) => id), right: right ? right.map(({ id }) => id) : null },
    facts: {
      records: right ? [left.length, right.length] : [left.length],
      fields: fields.map(fieldOf),
      vocabulary,
      dictionary,
      terms: termsOf(comparison),
      newWords: newWordsOf(comparison),
    },
  };
}

function newWordsOf({ aspects }: Comparison): number {
  const words = aspects.near.find(({ name }) => name === 'words all');
  return words ? newWordsIn(words) : 0;
}

/**
 * Stage 4: learns a model from the pairs. In one list, matches are first assumed to form clusters; if their transitivity is low,
 * similarity instead of identity was learned, and the model is learned again from nearest neighbours only. Pairs decided by a
 * rule are excluded.
 * @param pairs the number of all pairs, if those are some of them.
 */
export function* learnModel(
  facts: Facts,
  compared: Compared,
  pairs: number,
  prior?: Prior,
): Generator<Progress, MatchModel> {
  const { records, fields, vocabulary, dictionary, terms, newWords } = facts;
  const seen = new Map(compared.aspects.map(({ name, similarities }) => [name, binShares(similarities)]));
  const open = undecided(compared);
  const putBack = setAside(compared, open);
  const { learned: shape, transitivity } = yield* learnShape(open, facts, prior);
  const doubted = withoutChance(open, shape, prior);
  putBack();
  const learned = withRules(doubted, compared.aspects);
  return {
    format: MODEL_FORMAT,
    fields,
    aspects: learned.aspects.map((aspect) => ({
      ...aspect,
      seen: seen.get(aspect.aspect)!,
    })),
    priorBits: learned.priorBits,
    exclusive: learned.exclusive,
    transitivity,
    dictionary,
    ...(vocabulary && { vocabulary }),
    terms,
    learned: {
      records: records.reduce<number>((sum, count) => sum + count, 0),
      pairs,
      decisions: 0,
      newWords,
    },
  };
}

/** Copies a field without additional members of the caller. */
export const fieldOf = ({ name, kind, weight, without }: MatchField): MatchField => ({
  name,
  kind,
  ...(weight === undefined ? {} : { weight }),
  ...(without === undefined ? {} : { without }),
});

function* learnShape(open: Compared, { records: [left, right] }: Facts, prior?: Prior) {
  const pairs = open.graph.left.length;
  if (right !== undefined) {
    const shape: Shape = { exclusive: true, degrees: [pairs / left, pairs / right] };
    return { learned: yield* learn(open, shape, prior), transitivity: 1 };
  }
  return yield* learnList(open, prior);
}

function* resultOf(
  pairs: ComparedPairs,
  model: MatchModel,
  options: Pick<MatchOptions, 'thresholds'>,
  accepts: Accepts = () => true,
): Generator<Progress, MatchResult> {
  const { ids, candidates, compared } = pairs;
  yield 0;
  const odds = oddsOf(compared, model);
  yield 0.3;
  const scores = probabilitiesOf(compared.graph, odds, model.exclusive);
  yield 0.6;
  const likely = likelyPairs(pairs, model, { odds, scores, accepts }, options);
  release(odds, scores);
  return {
    pairs: classify(likely, options, ids.right !== null),
    model,
    compared: candidates.left.length,
  };
}

function likelyPairs(
  { candidates, compared: { aspects }, ids: { left, right } }: ComparedPairs,
  model: MatchModel,
  { odds, scores, accepts }: { odds: Float64Array; scores: Float64Array; accepts: Accepts },
  { thresholds = THRESHOLDS }: Pick<MatchOptions, 'thresholds'>,
): MatchPair[] {
  const pairs: MatchPair[] = [];
  for (const [at, score] of scores.entries()) {
    if (score < Math.min(thresholds.possible, thresholds.match)) continue;
    const pair = { left: left[candidates.left[at]!]!, right: (right ?? left)[candidates.right[at]!]! };
    if (!accepts(pair.left, pair.right)) continue;
    pairs.push({
      ...pair,
      score: round(score, 6),
      class: 'possible',
      alone: round(odds[at]! / (1 + odds[at]!), 6),
      evidence: evidenceOf(aspects, model, at),
    });
  }
  return pairs;
}

/** The evidence of the pair at a place. */
export const evidenceOf = (aspects: Compared['aspects'], model: MatchModel, at: number): Evidence[] =>
  aspects.map(({ name, similarities }) => {
    const similarity = similarities[at]!;
    const bits = model.aspects.find(({ aspect }) => aspect === name)?.bits;
    return {
      aspect: name,
      similarity: Number.isNaN(similarity) ? null : round(similarity, 4),
      bits: bits ? round(bitsAt(bits, similarity), 2) : 0,
    };
  });

/** Sorts and classifies the pairs; between two lists each record is in at most one match. */
export function classify(
  pairs: MatchPair[],
  { thresholds = THRESHOLDS }: Pick<MatchOptions, 'thresholds'>,
  once: boolean,
): MatchPair[] {
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

/** Rounds to a number of digits. */
export const round = (value: number, digits: number): number => Number(value.toFixed(digits));
