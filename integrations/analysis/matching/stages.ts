import { release } from '../../../platform/release.ts';
import { type Aspects, aspectsOf } from './aspects.ts';
import { type Candidates, type Neighbours, Pairs, type Reach, Search } from './candidates.ts';
import { corpusOf, isName } from './corpus.ts';
import type { Compared } from './learn.ts';
import type {
  Dictionary,
  MatchField,
  MatchOptions,
  MatchRecord,
  TermCounts,
  Vocabulary,
} from './matching.types.ts';
import { mapped, type Paused } from './numbers.ts';
import { ownWordsOf, writtenRecord } from './own-words.ts';
import { byId } from './records.ts';
import { graphOf } from './rivals.ts';
import { countsOf } from './vectors.ts';

/** Share of completed work, 0..1. */
export type Progress = number;

const NEIGHBOURS = 12;
const POSTINGS = 4_000;
/** Rows searched and pairs compared between two yields. */
const ROWS_PER_YIELD = 250;
const PAIRS_PER_YIELD = 20_000;

/** Records prepared for comparison; deterministic for records and model. */
export interface Comparison {
  /** Sorted by id. */
  left: readonly MatchRecord[];
  /** Null if `left` is compared with itself. */
  right: readonly MatchRecord[] | null;
  fields: readonly MatchField[];
  vocabulary: Vocabulary | undefined;
  dictionary: Dictionary;
  aspects: Aspects;
  reach: Reach;
}

/**
 * Stage 1: tokenises the records and weights their terms: of one list by the model if there is one, of two lists by their
 * frequencies, as with a model that was learned from parts of them.
 *
 * @throws RangeError for duplicate ids in a list, or a model for other fields
 */
export function* comparisonInSteps(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  options: Pick<MatchOptions, 'fields' | 'model' | 'neighbours' | 'vocabulary'>,
): Generator<Progress, Comparison> {
  const { fields, model, neighbours } = options;
  if (model && !sameFields(model.fields, fields))
    throw new RangeError('The model was learned for other fields.');
  return yield* comparisonOf(byId(left), right && byId(right), {
    ...{ fields, neighbours, isOneList: right === null, dictionary: model?.dictionary },
    terms: right ? undefined : model?.terms,
    vocabulary: (model ?? options).vocabulary,
  });
}

/** How two lists, or two parts of one, are compared. */
export interface ComparisonOptions extends Pick<MatchOptions, 'fields' | 'neighbours' | 'vocabulary'> {
  isOneList: boolean;
  /** Undefined to derive it from the lists. */
  dictionary: Dictionary | undefined;
  /** Undefined to count them in the lists. */
  terms: Record<string, TermCounts> | undefined;
}

/** Stage 1 for records in the order of their ids. */
export function* comparisonOf(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  { fields, neighbours = NEIGHBOURS, vocabulary, isOneList, dictionary, terms }: ComparisonOptions,
): Generator<Progress, Comparison> {
  const [lefts, rights] = yield* at(0, writtenLists([left, right], fields, vocabulary));
  const { vendorOf } = ownWordsOf(vocabulary);
  const corpus = yield* at(0, corpusOf(lefts, rights, fields, vendorOf, dictionary, isOneList));
  return {
    ...{ left, right, fields, vocabulary, dictionary: corpus.dictionary },
    aspects: yield* at(0.5, aspectsOf(corpus, fields, terms && { terms })),
    reach: { neighbours, postings: POSTINGS },
  };
}

/** Frees the vectors, after which nothing can be searched or compared. */
export function endComparison({ aspects }: Comparison): void {
  for (const { left, right } of aspects.spaces)
    for (const { starts, terms, weights } of [left, right]) release(starts, terms, weights);
}

/** Frees the values of compared records; ids remain. */
export function withoutValues(comparison: Comparison): void {
  const ids = (records: readonly MatchRecord[]) => records.map(({ id }) => ({ id, values: {} }));
  comparison.left = ids(comparison.left);
  comparison.right &&= ids(comparison.right);
}

type Lists = readonly [left: readonly MatchRecord[], right: readonly MatchRecord[] | null];

/** The lists with the synonyms of a vocabulary in their names replaced. */
export function* writtenLists(
  lists: Lists,
  fields: readonly MatchField[],
  vocabulary: Vocabulary | undefined,
): Paused<Lists> {
  if (!vocabulary || vocabulary.synonyms.length === 0) return lists;
  const names = fields.filter(isName);
  const { synonyms } = ownWordsOf(vocabulary);
  const written = (records: readonly MatchRecord[]) =>
    mapped(records, (record) => writtenRecord(record, names, synonyms));
  const [left, right] = lists;
  return [yield* written(left), right && (yield* written(right))];
}

/** Work that reports a constant progress. */
function* at<T>(progress: Progress, work: Paused<T>): Generator<Progress, T> {
  let step = work.next();
  for (; !step.done; step = work.next()) yield progress;
  return step.value;
}

/** Runs a part of the work and maps its progress to a range of the total progress. */
export function* within<T>(
  from: Progress,
  to: Progress,
  part: Generator<Progress, T>,
): Generator<Progress, T> {
  let step = part.next();
  for (; !step.done; step = part.next()) yield from + (to - from) * step.value;
  return step.value;
}

const sameFields = (a: readonly MatchField[], b: readonly MatchField[]): boolean => {
  const text = (fields: readonly MatchField[]) =>
    JSON.stringify(fields.map(({ name, kind, weight = 1, without = null }) => [name, kind, weight, without]));
  return text(a) === text(b);
};

/** Term frequencies of a comparison, for a model. */
export const termsOf = ({ aspects }: Comparison): Record<string, TermCounts> =>
  Object.fromEntries(aspects.spaces.map((space) => [space.name, countsOf(space)]));

/** Creates a search, which has a large index. */
export type MakeSearch = () => Search;

/** The searches in each space, for the left or the right rows. */
export const searchesOf = (
  { aspects, reach }: Comparison,
  from: 'left' | 'right' = 'left',
): readonly MakeSearch[] =>
  aspects.near.map(
    (space) => () =>
      from === 'left'
        ? new Search(space, space.left, space.right, reach)
        : new Search(space, space.right, space.left, reach),
  );

/** The pairs of one list in which either row is a neighbour of the other. */
export function pairsIn(neighbours: readonly Neighbours[]): Candidates {
  const pairs = new Pairs();
  for (const near of neighbours) pairs.add(near, 'rising');
  return pairs.distinct();
}

/** The training data: pairs with their similarities. */
export function comparedOf(
  { left, right, aspects: { aspects } }: Comparison,
  candidates: Candidates,
  similarities: readonly Float32Array[],
): Compared {
  return {
    graph: graphOf(candidates, left.length, right?.length ?? null),
    aspects: aspects.map(
      ({ name, kind, weight, rule, isCode = false, isExact = false, isNaming = false }, index) => ({
        name,
        ...(kind ? { kind } : {}),
        weight,
        isCode,
        isExact,
        isNaming,
        ...(rule ? { rule } : {}),
        similarities: similarities[index]!,
      }),
    ),
  };
}

/** Stage 2 of one list: the neighbours of all rows, by space. */
export function* allNeighbours(comparison: Comparison): Generator<Progress, Neighbours[]> {
  return yield* neighboursOf(searchesOf(comparison), rowsBelow(comparison.left.length));
}

/** All rows. */
export const rowsBelow = (count: number): Uint32Array => new Uint32Array(count).map((_, row) => row);

/** The neighbours of some rows, by search; only one search is in memory at a time. */
export function* neighboursOf(
  searches: readonly MakeSearch[],
  rows: Uint32Array,
  withSums = false,
): Generator<Progress, Neighbours[]> {
  const found: Neighbours[] = [];
  for (const [at, make] of searches.entries()) {
    yield at / searches.length;
    const [from, to] = [at / searches.length, (at + 1) / searches.length];
    found.push(yield* within(from, to, nearestOf(make(), rows, withSums)));
  }
  return found;
}

function* nearestOf(search: Search, rows: Uint32Array, withSums: boolean): Generator<Progress, Neighbours> {
  const near = search.noNeighbours(rows.length, withSums);
  for (let from = 0; from < rows.length; from += ROWS_PER_YIELD) {
    search.addNearest(rows.subarray(from, from + ROWS_PER_YIELD), near, from);
    yield from / rows.length;
  }
  search.end();
  return near;
}

/** Stage 2 of two lists, from both sides or from the left only. */
export function* pairsBetween(
  comparison: Comparison,
  from: 'both' | 'left' = 'both',
): Generator<Progress, Candidates> {
  const pairs = new Pairs();
  const sides = from === 'left' ? (['left'] as const) : (['left', 'right'] as const);
  for (const [at, side] of sides.entries()) {
    const rows = rowsBelow((side === 'left' ? comparison.left : comparison.right!).length);
    const found = neighboursOf(searchesOf(comparison, side), rows);
    for (const near of yield* within(at / sides.length, (at + 1) / sides.length, found))
      pairs.add(near, side === 'left' ? 'given' : 'turned');
  }
  return pairs.distinct();
}

/** Stage 3: the similarities of pairs by aspect; NaN if missing. */
export function* similaritiesOf(
  { aspects: { aspects } }: Comparison,
  { left, right }: Candidates,
): Generator<Progress, Float32Array[]> {
  const count = left.length;
  const found = aspects.map(() => new Float32Array(count));
  for (let from = 0; from < count; from += PAIRS_PER_YIELD) {
    const to = Math.min(count, from + PAIRS_PER_YIELD);
    for (const [index, { similarity }] of aspects.entries())
      for (let at = from; at < to; at++) found[index]![at] = similarity(left[at]!, right[at]!);
    yield from / count;
  }
  return found;
}
