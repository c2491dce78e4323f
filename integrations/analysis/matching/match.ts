import { bitsAt } from './bits.ts';
import type { Candidates } from './candidates.ts';
import { withDecisions } from './decisions.ts';
import { binShares, type Drift, driftOf, newWordsIn } from './drift.ts';
import {
  type Compared,
  learn,
  learnList,
  oddsOf,
  probabilitiesOf,
  type Shape,
  undecided,
  withRules,
} from './learn.ts';
import {
  type Decision,
  type MatchField,
  type MatchModel,
  type MatchOptions,
  type MatchPair,
  type MatchRecord,
  type MatchResult,
  MODEL_FORMAT,
  type Prior,
} from './matching.types.ts';
import { finish } from './numbers.ts';
import { type Snapshot, snapshotFrom, updatedSnapshot, type Work } from './snapshots.ts';
import {
  allNeighbours,
  type Comparison,
  comparedOf,
  comparisonInSteps,
  type Progress,
  pairsBetween,
  pairsIn,
  similaritiesOf,
  termsOf,
} from './stages.ts';

const THRESHOLDS = { match: 0.5, possible: 0.1 };

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
  const comparison = yield* within(0, 0.2, comparisonInSteps(left, right, options));
  const candidates = yield* within(0.2, 0.5, pairsBetween(comparison, options.from));
  const similarities = yield* within(0.5, 0.7, similaritiesOf(comparison, candidates));
  const compared = comparedOf(comparison, candidates, similarities);
  const model =
    options.model ??
    modelWithDecisions(
      yield* within(0.7, 0.9, learnModel(comparison, compared, options.prior)),
      comparison,
      options.decisions,
    );
  return resultOf(comparison, candidates, compared, model, options);
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

/** Finds duplicate pairs within one list, in clusters of any size. */
export const findDuplicates = (
  records: readonly MatchRecord[],
  options: DuplicatesOptions,
): DuplicatesResult => finish(findDuplicatesInSteps(records, options));

/** Like findDuplicates; yields about every 100 ms, so that the caller can do other work or cancel. */
export function* findDuplicatesInSteps(
  records: readonly MatchRecord[],
  options: DuplicatesOptions,
): Generator<Progress, DuplicatesResult> {
  const comparison = yield* within(0, 0.2, comparisonInSteps(records, null, options));
  const { base, snapshot, work } = yield* within(0.2, 0.9, snapshotOf(comparison, options));
  const { candidates, similarities } = snapshot;
  const compared = comparedOf(comparison, candidates, similarities);
  const model = modelWithDecisions(base, comparison, options.decisions);
  return {
    ...resultOf(comparison, candidates, compared, model, options),
    base,
    order: compared.aspects.map(({ name }) => name),
    snapshot,
    work,
    drift: driftOf(model, compared.aspects, newWordsOf(comparison)),
  };
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

/** The snapshot of one list, and its model, which is learned if none is given. */
function* snapshotOf(comparison: Comparison, { model, previous, prior }: DuplicatesOptions) {
  if (model && previous) return { base: model, ...(yield* updatedSnapshot(previous, comparison, model)) };
  const neighbours = yield* within(0, 0.5, allNeighbours(comparison));
  const candidates = pairsIn(neighbours);
  const similarities = yield* within(0.5, 0.8, similaritiesOf(comparison, candidates));
  const base =
    model ??
    (yield* within(0.8, 1, learnModel(comparison, comparedOf(comparison, candidates, similarities), prior)));
  const count = comparison.left.length;
  const work: Work = { changed: count, searched: count, compared: candidates.left.length };
  return { base, snapshot: snapshotFrom(comparison, base, neighbours, candidates, similarities), work };
}

function newWordsOf({ aspects }: Comparison): number {
  const words = aspects.near.find(({ name }) => name === 'words all');
  return words ? newWordsIn(words) : 0;
}

/**
 * Stage 4: learns a model from the pairs. In one list, matches are first assumed to form clusters; if their transitivity is low,
 * similarity instead of identity was learned, and the model is learned again from nearest neighbours only. Pairs decided by a
 * rule are excluded.
 */
function* learnModel(
  comparison: Comparison,
  compared: Compared,
  prior?: Prior,
): Generator<Progress, MatchModel> {
  const { learned: shape, transitivity } = yield* learnShape(undecided(compared), comparison, prior);
  const learned = withRules(shape, compared.aspects);
  const similaritiesBy = new Map(compared.aspects.map(({ name, similarities }) => [name, similarities]));
  return {
    format: MODEL_FORMAT,
    fields: comparison.fields.map(fieldOf),
    aspects: learned.aspects.map((aspect) => ({
      ...aspect,
      seen: binShares(similaritiesBy.get(aspect.aspect)!),
    })),
    priorBits: learned.priorBits,
    exclusive: learned.exclusive,
    transitivity,
    dictionary: comparison.corpus.dictionary,
    ...(comparison.vocabulary && { vocabulary: comparison.vocabulary }),
    terms: termsOf(comparison),
    learned: {
      records: comparison.left.length + (comparison.right?.length ?? 0),
      pairs: compared.graph.left.length,
      decisions: 0,
      newWords: newWordsOf(comparison),
    },
  };
}

/** A model adjusted by decisions about pairs of these records. */
const modelWithDecisions = (
  model: MatchModel,
  comparison: Comparison,
  decisions: readonly Decision[] = [],
): MatchModel => withDecisions(model, decidedPairs(comparison, decisions));

/** Copies a field without additional members of the caller. */
const fieldOf = ({ name, kind, weight, without }: MatchField): MatchField => ({
  name,
  kind,
  ...(weight === undefined ? {} : { weight }),
  ...(without === undefined ? {} : { without }),
});

function* learnShape(open: Compared, { left, right }: Comparison, prior?: Prior) {
  const pairs = open.graph.left.length;
  if (right) {
    const shape: Shape = { exclusive: true, degrees: [pairs / left.length, pairs / right.length] };
    return { learned: yield* learn(open, shape, prior), transitivity: 1 };
  }
  return yield* learnList(open, prior);
}

/** The similarities of decided pairs, including non-candidates; pairs with missing records are omitted. */
function decidedPairs({ left, right, aspects }: Comparison, decisions: readonly Decision[]) {
  const lefts = new Map(left.map(({ id }, row) => [id, row]));
  const rights = right ? new Map(right.map(({ id }, row) => [id, row])) : lefts;
  return decisions.flatMap((decision) => {
    const [low, high] =
      right || decision.left < decision.right
        ? [decision.left, decision.right]
        : [decision.right, decision.left];
    const [a, b] = [lefts.get(low), rights.get(high)];
    if (a === undefined || b === undefined) return [];
    const similarities = Object.fromEntries(
      aspects.aspects.map(({ name, similarity }) => [name, similarity(a, b)]),
    );
    return [{ same: decision.same, similarities }];
  });
}

/** Runs a part of the work and maps its progress to a range of the total progress. */
function* within<T>(from: Progress, to: Progress, part: Generator<Progress, T>): Generator<Progress, T> {
  let step = part.next();
  for (; !step.done; step = part.next()) yield from + (to - from) * step.value;
  return step.value;
}

function resultOf(
  comparison: Comparison,
  candidates: Candidates,
  compared: Compared,
  model: MatchModel,
  options: Pick<MatchOptions, 'thresholds'>,
): MatchResult {
  const odds = oddsOf(compared, model);
  const scores = probabilitiesOf(compared.graph, odds, model.exclusive);
  const pairs = pairsOf(comparison, candidates, compared, model, odds, scores, options);
  return {
    pairs: classify(pairs, options, comparison.right !== null),
    model,
    compared: candidates.left.length,
  };
}

function pairsOf(
  { left, right }: Comparison,
  candidates: Candidates,
  { aspects }: Compared,
  model: MatchModel,
  odds: Float64Array,
  scores: Float64Array,
  { thresholds = THRESHOLDS }: Pick<MatchOptions, 'thresholds'>,
): MatchPair[] {
  const pairs: MatchPair[] = [];
  for (const [at, score] of scores.entries()) {
    if (score < Math.min(thresholds.possible, thresholds.match)) continue;
    pairs.push({
      left: left[candidates.left[at]!]!.id,
      right: (right ?? left)[candidates.right[at]!]!.id,
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

/** Sorts and classifies the pairs; between two lists each record is in at most one match. */
function classify(
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

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
