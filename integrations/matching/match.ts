import { bitsAt } from './bits.ts';
import type { Candidates } from './candidates.ts';
import { withDecisions } from './decisions.ts';
import { type Drift, driftOf, newWordsIn, seenIn } from './drift.ts';
import { type Compared, learn, oddsOf, probabilitiesOf, type Shape, undecided, withRules } from './learn.ts';
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
import { transitivityOf } from './rivals.ts';
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
/** Of two records that match a third, the share that must match each other for matches to be taken as groups. */
const LEAST_TRANSITIVITY = 0.9;

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

/** A result of one list, with what the next run over it may build on. */
export interface DuplicatesResult extends MatchResult {
  snapshot: Snapshot;
  work: Work;
  /** How far the records are from those that the model was learned from. */
  drift: Drift;
}

/** Options of one list. */
export interface DuplicatesOptions extends MatchOptions {
  /** What an earlier run with the same model found; the result is the same as without. */
  previous?: Snapshot | undefined;
}

/** Finds the pairs within one list that stand for one thing, whether they come in twos or in larger groups. */
export const findDuplicates = (
  records: readonly MatchRecord[],
  options: DuplicatesOptions,
): DuplicatesResult => finish(findDuplicatesInSteps(records, options));

/** As findDuplicates, in steps of some 100 ms, between which a caller may do other things or give up. */
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

/** The last stage of one list: what a snapshot comes to by its model. */
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
 * Stage 4: learns a model from the pairs. In one list, pairs are first taken as parts of groups; where two records that match a
 * third seldom match each other, what was learned is not identity but likeness, and it is learned again from each record's
 * nearest alone. Pairs that a rule decides teach nothing. What people decided moves what was learned.
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
      seen: seenIn(similaritiesBy.get(aspect.aspect)!),
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

/** A model with what people decided of pairs of these records. */
export const modelWithDecisions = (
  model: MatchModel,
  comparison: Comparison,
  decisions: readonly Decision[],
): MatchModel => withDecisions(model, decidedPairs(comparison, decisions));

/** A field with nothing else that its caller keeps in it. */
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
  const groups = yield* within(0, 0.5, learn(open, { exclusive: false, degrees: null }));
  const transitivity = transitivityOf(open.graph, probabilitiesOf(open.graph, oddsOf(open, groups), false));
  if (transitivity >= LEAST_TRANSITIVITY) return { learned: groups, transitivity };
  return {
    learned: yield* within(0.5, 1, learn(open, { exclusive: true, degrees: null })),
    transitivity,
  };
}

/** The similarities of decided pairs, whether they are among the candidates or not; those of records that went are left out. */
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

/** Runs a part of the work, whose progress takes the whole's from one share to another. */
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

/** Sorts the pairs and calls those `match` that reach the threshold; between two lists a record is in one of them only. */
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
