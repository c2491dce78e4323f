import { release } from '../../../platform/release.ts';
import type { Scratch, ScratchFile } from '../../../platform/scratch-file.ts';
import { type Candidates, type Neighbours, NOBODY, Pairs } from './candidates.ts';
import { dictionaryOf } from './corpus.ts';
import { type DecidedPair, decidedPairs } from './decisions.ts';
import { newWordsIn } from './drift.ts';
import type { Compared } from './learn.ts';
import type { DuplicatesOptions } from './match.ts';
import type { Decision, Dictionary, MatchModel, MatchRecord, TermCounts } from './matching.types.ts';
import { Numbers } from './numbers.ts';
import { ownWordsOf } from './own-words.ts';
import {
  type Comparison,
  comparedOf,
  comparisonOf,
  endComparison,
  neighboursOf,
  type Progress,
  rowsBelow,
  searchesOf,
  similaritiesOf,
  within,
  writtenLists,
} from './stages.ts';

/** One list in parts: all ids of a part are below those of the next. */
export interface PartedList {
  /** The number of records of each part. */
  counts: readonly number[];
  /** The records of a part in the order of their ids. */
  read(part: number): readonly MatchRecord[];
}

/** The compared pairs whose left record is in one part, in ascending order; rows are those of the whole list. */
export interface PartPairs {
  candidates: Scratch<Candidates>;
  count: number;
  /** By aspect. */
  similarities: Scratch<Float32Array>[];
}

/** What is known of the words of a list. */
export type Known = Pick<MatchModel, 'dictionary' | 'terms'>;
type Ranked = Required<Neighbours>;

/** Finds and compares the pairs of one list, two parts at a time. */
export class PartedComparison {
  readonly #list: PartedList;
  readonly #options: DuplicatesOptions;
  readonly #file: ScratchFile;
  /** The first row of each part. */
  readonly starts: number[] = [];
  readonly records: number;
  readonly vocabulary: MatchModel['vocabulary'];
  /** The aspects, without similarities. */
  aspects: Compared['aspects'] = [];
  /** In the order of the decisions. */
  decided: DecidedPair[] = [];

  constructor(list: PartedList, options: DuplicatesOptions, file: ScratchFile) {
    this.#list = list;
    this.#options = options;
    this.#file = file;
    this.vocabulary = (options.model ?? options).vocabulary;
    let records = 0;
    for (const count of list.counts) {
      this.starts.push(records);
      records += count;
    }
    this.records = records;
  }

  /** Derives the dictionary, and counts the records of each term. */
  *count(): Generator<Progress, Known> {
    const { fields } = this.#options;
    const parts = [...this.#list.counts.keys()];
    const written = (part: number) => {
      const steps = writtenLists([this.#list.read(part), null], fields, this.vocabulary);
      let step = steps.next();
      while (!step.done) step = steps.next();
      return step.value[0];
    };
    const pages = function* () {
      for (const part of parts) yield written(part);
    };
    const steps = dictionaryOf(pages, fields, ownWordsOf(this.vocabulary).vendorOf);
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield 0;
    const dictionary = step.value;
    const spaces = new Map<string, { rows: number; counts: Map<string, number> }>();
    for (const part of parts) {
      yield part / parts.length;
      const { aspects } = yield* within(part / parts.length, 1, this.#comparison(part, part, { dictionary }));
      for (const { name, terms, counts, rows } of aspects.spaces) {
        const space = spaces.get(name) ?? { rows: 0, counts: new Map<string, number>() };
        spaces.set(name, space);
        space.rows += rows;
        for (const [at, term] of terms.entries())
          if (counts[at]! > 0) space.counts.set(term, (space.counts.get(term) ?? 0) + counts[at]!);
      }
    }
    const terms: Record<string, TermCounts> = {};
    for (const [name, { rows, counts }] of spaces) {
      const frequent = [...counts.keys()].filter((term) => counts.get(term)! > 1).sort();
      terms[name] = { rows, terms: frequent, counts: frequent.map((term) => counts.get(term)!) };
    }
    return { dictionary, terms };
  }

  /** Compares two parts, or one with itself, as all records would be. */
  *#comparison(
    one: number,
    other: number,
    known: { dictionary: Dictionary; terms?: MatchModel['terms'] },
  ): Generator<Progress, Comparison> {
    const { fields, neighbours } = this.#options;
    return yield* comparisonOf(this.#list.read(one), one === other ? null : this.#list.read(other), {
      ...{ fields, neighbours, vocabulary: this.vocabulary, isOneList: true },
      dictionary: known.dictionary,
      terms: known.terms,
    });
  }

  /** Each part and itself, and each part and each later one. */
  *#twos(): Generator<{ one: number; other: number; done: Progress }> {
    const count = this.#list.counts.length;
    let at = 0;
    for (let one = 0; one < count; one++)
      for (let other = one; other < count; other++)
        yield { one, other, done: (2 * at++) / (count * (count + 1)) };
  }

  /** The nearest records of all records, by part and space. */
  *search(known: Known): Generator<Progress, Scratch<Ranked[]>[]> {
    const found: Scratch<Ranked[]>[] = [];
    for (const { one, other, done } of this.#twos()) {
      const comparison = yield* within(done, done, this.#comparison(one, other, known));
      for (const side of one === other ? (['left'] as const) : (['left', 'right'] as const)) {
        const [from, to] = side === 'left' ? [one, other] : [other, one];
        const searches = searchesOf(comparison, side);
        const near = yield* within(
          done,
          done,
          neighboursOf(searches, rowsBelow(this.#list.counts[from]!), true),
        );
        const before = found[from] && this.#file.get(found[from]);
        const after = near.map((ranked, space) => this.#nearer(before?.[space], ranked as Ranked, to));
        found[from] = this.#file.put(after);
      }
      endComparison(comparison);
    }
    return found;
  }

  /** The nearest of two parts; rows of the second are counted from its start. */
  #nearer(before: Ranked | undefined, { rows, sums, bounds }: Ranked, part: number): Ranked {
    const start = this.starts[part]!;
    const moved = rows.map((row) => (row === NOBODY ? NOBODY : row + start));
    if (!before) return { rows: moved, sums, bounds };
    const merged: Ranked = { rows: moved.slice(), sums: sums.slice(), bounds };
    const k = rows.length / Math.max(1, bounds.length);
    for (let row = 0; row < bounds.length; row++) {
      let [i, j] = [row * k, row * k];
      for (let place = row * k; place < (row + 1) * k; place++) {
        const [a, b] = [before.rows[i]!, moved[j]!];
        const isFirst =
          a !== NOBODY &&
          (b === NOBODY || before.sums[i]! > sums[j]! || (before.sums[i] === sums[j] && a < b));
        merged.rows[place] = isFirst ? a : b;
        merged.sums[place] = isFirst ? before.sums[i++]! : sums[j++]!;
      }
    }
    return merged;
  }

  #partOf(row: number): number {
    let part = this.starts.length - 1;
    while (this.starts[part]! > row) part--;
    return part;
  }

  /** The pairs to compare, by the part of the left record. */
  candidates(ranked: readonly Scratch<Ranked[]>[]): Scratch<Candidates>[] {
    const buckets: Scratch<Candidates>[][] = ranked.map(() => []);
    for (const [part, place] of ranked.entries()) {
      const pairs = ranked.map(() => new Pairs());
      for (const { rows, bounds } of this.#file.get(place)) {
        const k = rows.length / Math.max(1, bounds.length);
        for (const [at, other] of rows.entries()) {
          if (other === NOBODY) continue;
          const row = this.starts[part]! + Math.floor(at / k);
          const [low, high] = row < other ? [row, other] : [other, row];
          pairs[this.#partOf(low)]!.push(low, high);
        }
      }
      for (const [to, bucket] of buckets.entries()) bucket.push(this.#file.put(pairs[to]!.distinct()));
    }
    return buckets.map((bucket) => {
      const pairs = new Pairs();
      for (const place of bucket) {
        const { left, right } = this.#file.get(place);
        for (let at = 0; at < left.length; at++) pairs.push(left[at]!, right[at]!);
      }
      return this.#file.put(pairs.distinct());
    });
  }

  /** The similarities of the pairs. */
  *compare(known: Known, candidates: readonly Scratch<Candidates>[]) {
    const decisions = (this.#options.decisions ?? []).map(
      ({ left, right, same }): Decision => ({
        ...(left < right ? { left, right } : { left: right, right: left }),
        same,
      }),
    );
    const pairs: PartPairs[] = [];
    const decided = decisions.map((): DecidedPair | undefined => undefined);
    let [terms, unknown] = [0, 0];
    let similarities: Float32Array[] = [];
    for (const { one, other, done } of this.#twos()) {
      const { left, right } = this.#file.get(candidates[one]!);
      const comparison = yield* within(done, done, this.#comparison(one, other, known));
      for (const [at, pair] of decidedPairs(comparison, decisions).entries()) decided[at] ??= pair;
      const [start, end] = [this.starts[other]!, this.starts[other]! + this.#list.counts[other]!];
      if (one === other) {
        const words = comparison.aspects.near.find(({ name }) => name === 'words all');
        terms += words?.left.terms.length ?? 0;
        unknown += words ? newWordsIn(words) * words.left.terms.length : 0;
        this.aspects = comparedOf(comparison, { left: NO_ROWS, right: NO_ROWS }, []).aspects;
        similarities = this.aspects.map(() => new Float32Array(left.length));
      }
      const places = new Numbers();
      for (let at = 0; at < right.length; at++) if (right[at]! >= start && right[at]! < end) places.push(at);
      const own = places.items();
      const found = yield* within(
        done,
        done,
        similaritiesOf(comparison, {
          left: own.map((at) => left[at]! - this.starts[one]!),
          right: own.map((at) => right[at]! - start),
        }),
      );
      for (const [aspect, values] of found.entries())
        for (let place = 0; place < own.length; place++) similarities[aspect]![own[place]!] = values[place]!;
      release(...found);
      endComparison(comparison);
      if (other < this.starts.length - 1) continue;
      const stored = similarities.map((values) => this.#file.put(values));
      release(...similarities);
      pairs.push({ candidates: candidates[one]!, count: left.length, similarities: stored });
      similarities = [];
    }
    this.decided = decided.filter((pair) => pair !== undefined);
    return { pairs, newWords: unknown / Math.max(1, terms) };
  }

  comparedOf({ candidates, similarities }: PartPairs): Compared {
    return {
      graph: { nodes: this.records, ...this.#file.get(candidates) },
      aspects: this.aspects.map((aspect, at) => ({
        ...aspect,
        similarities: this.#file.get(similarities[at]!),
      })),
    };
  }
}

const NO_ROWS = new Uint32Array();
