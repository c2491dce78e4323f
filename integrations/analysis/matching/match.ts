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
} from './matching.types.ts';
import { finish } from './numbers.ts';
import { type Snapshot, snapshotFrom, snapshotOf, updatedSnapshot, type Work } from './snapshots.ts';
import {
  allNeighbours,
  allSimilarities,
  type Comparison,
  comparedOf,
  comparisonInSteps,
  type Progress,
  pairsBetween,
  pairsIn,
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
  const comparison = yield* within(
    0,
    0.2,
    comparisonInSteps(left, right, options.fields, options.model, options.neighbours),
  );
  const candidates = yield* within(0.2, 0.5, pairsBetween(comparison, options.from));
  const similarities = yield* within(0.5, 0.7, allSimilarities(comparison, candidates));
  const compared = comparedOf(comparison, candidates, similarities);
  const model =
    options.model ?? (yield* within(0.7, 0.9, learnModel(comparison, compared, options.decisions)));
  return resultOf(comparison, candidates, compared, model, options);
}

/** The result for one list, with the data for an incremental next run. */
export interface DuplicatesResult extends MatchResult {
  snapshot: Snapshot;
  work: Work;
  /** The drift from the model's training data. */
  drift: Drift;
}

/** Options of one list. */
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
  const comparison = yield* within(
    0,
    0.2,
    comparisonInSteps(records, null, options.fields, options.model, options.neighbours),
  );
  if (options.model) {
    const { model, previous } = options;
    const found = previous ? updatedSnapshot(previous, comparison, model) : snapshotOf(comparison, model);
    const { snapshot, work } = yield* within(0.2, 0.9, found);
    return duplicatesOf(comparison, snapshot, model, options, work);
  }
  const neighbours = yield* within(0.2, 0.5, allNeighbours(comparison));
  const candidates = pairsIn(neighbours);
  const similarities = yield* within(0.5, 0.7, allSimilarities(comparison, candidates));
  const compared = comparedOf(comparison, candidates, similarities);
  const model = yield* within(0.7, 0.9, learnModel(comparison, compared, options.decisions));
  const count = comparison.left.length;
  const work = { changed: count, searched: count, compared: candidates.left.length };
  const snapshot = snapshotFrom(comparison, model, neighbours, candidates, similarities);
  return duplicatesOf(comparison, snapshot, model, options, work);
}

/** The last stage of one list: classifies the pairs of a snapshot by the model. */
export function duplicatesOf(
  comparison: Comparison,
  snapshot: Snapshot,
  model: MatchModel,
  options: Pick<MatchOptions, 'thresholds'>,
  work: Work,
): DuplicatesResult {
  const compared = comparedOf(comparison, snapshot.candidates, snapshot.similarities);
  return {
    ...resultOf(comparison, snapshot.candidates, compared, model, options),
    snapshot,
    work,
    drift: driftOf(model, compared.aspects, newWordsOf(comparison)),
  };
}

function newWordsOf({ aspects }: Comparison): number {
  const words = aspects.near.find(({ name }) => name === 'words all');
  return words ? newWordsIn(words) : 0;
}

/**
 * Stage 4: learns a model from the pairs. In one list, matches are first assumed to form clusters; if their transitivity is low,
 * similarity instead of identity was learned, and the model is learned again from nearest neighbours only. Pairs decided by a
 * rule are excluded. Decisions of people adjust the result.
 */
export function* learnModel(
  comparison: Comparison,
  compared: Compared,
  decisions: readonly Decision[] = [],
): Generator<Progress, MatchModel> {
  const open = undecided(compared);
  const { learned: shape, transitivity } = yield* learnShape(open, comparison);
  const learned = withRules(shape, compared.aspects);
  const similaritiesBy = new Map(compared.aspects.map(({ name, similarities }) => [name, similarities]));
  const model: MatchModel = {
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
    terms: termsOf(comparison),
    learned: {
      records: comparison.left.length + (comparison.right?.length ?? 0),
      pairs: compared.graph.left.length,
      decisions: 0,
      newWords: newWordsOf(comparison),
    },
  };
  return modelWithDecisions(model, comparison, decisions);
}

/** A model adjusted by decisions about pairs of these records. */
export const modelWithDecisions = (
  model: MatchModel,
  comparison: Comparison,
  decisions: readonly Decision[],
): MatchModel => withDecisions(model, decidedPairs(comparison, decisions));

/** Copies a field without additional members of the caller. */
const fieldOf = ({ name, kind, weight, without }: MatchField): MatchField => ({
  name,
  kind,
  ...(weight === undefined ? {} : { weight }),
  ...(without === undefined ? {} : { without }),
});

function* learnShape(open: Compared, { left, right }: Comparison) {
  const pairs = open.graph.left.length;
  if (right) {
    const shape: Shape = { exclusive: true, degrees: [pairs / left.length, pairs / right.length] };
    return { learned: yield* learn(open, shape), transitivity: 1 };
  }
  return yield* learnList(open);
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
