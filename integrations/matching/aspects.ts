import { type Corpus, inPieces, isWordy, joined, textOf } from './corpus.ts';
import { ALL_CODES, ALL_WORDS, type MatchField, type MatchRecord } from './matching.types.ts';
import { fold } from './normalise.ts';
import type { Rows } from './numbers.ts';
import {
  codeOf,
  codeSimilarity,
  numberOf,
  numberSimilarity,
  versionOf,
  versionSimilarity,
} from './similarity.ts';
import { cosine, isEmpty, type Space, spaceOf } from './vectors.ts';

/** Something that is compared of two records. */
export interface Aspect {
  name: string;
  weight: number;
  /** 0..1, or NaN where one of the rows has no value. */
  similarity(left: number, right: number): number;
}

/** What a comparison looks at, and the spaces in which candidates are near each other. */
export interface Aspects {
  aspects: Aspect[];
  /** Of all words, of their pieces, of all codes. */
  spaces: Space[];
}

/** The aspects of the fields, and those of all words and of all codes where there are fields of words. */
export function aspectsOf(corpus: Corpus, fields: readonly MatchField[]): Aspects {
  const used = fields.filter(({ weight = 1 }) => weight > 0);
  const own = used.map((field) => aspectOf(corpus, field));
  const wordy = used.filter(isWordy);
  if (wordy.length === 0) return { aspects: own, spaces: [] };
  const weight = Math.max(...wordy.map(({ weight = 1 }) => weight));
  const all = wordSpaces(corpus, joinedFields(corpus, wordy));
  const codes = spaceOf(corpus.codes.terms, corpus.codes.left, corpus.codes.right);
  const together: Aspect[] = [
    { name: ALL_WORDS, weight, similarity: alike([all.words, all.pieces]) },
    { name: ALL_CODES, weight, similarity: alike([codes]) },
  ];
  return {
    aspects: [...own, ...(wordy.length === 1 && own.length === 1 ? together.slice(1) : together)],
    spaces: [all.words, all.pieces, codes],
  };
}

interface Sides {
  left: Rows;
  right: Rows | null;
}

function joinedFields(corpus: Corpus, fields: readonly MatchField[]): Sides {
  const rows = fields.map(({ name }) => corpus.fields.get(name)!);
  return {
    left: joined(
      rows.map(({ left }) => left),
      corpus.left.length,
    ),
    right:
      corpus.right &&
      joined(
        rows.map(({ right }) => right!),
        corpus.right.length,
      ),
  };
}

function wordSpaces({ words, pieces }: Corpus, { left, right }: Sides): { words: Space; pieces: Space } {
  return {
    words: spaceOf(words.length, left, right),
    pieces: spaceOf(pieces.terms, inPieces(left, pieces), right && inPieces(right, pieces)),
  };
}

/** The mean of the cosines in some spaces. */
function alike(spaces: readonly Space[]): Aspect['similarity'] {
  return (a, b) => {
    let sum = 0;
    for (const { left, right } of spaces) {
      if (isEmpty(left, a) || isEmpty(right, b)) return Number.NaN;
      sum += cosine(left, a, right, b);
    }
    return sum / spaces.length;
  };
}

function aspectOf(corpus: Corpus, field: MatchField): Aspect {
  const { name, weight = 1 } = field;
  const text = (record: MatchRecord) => textOf(record, name);
  switch (field.kind) {
    case 'name':
    case 'text': {
      const { words, pieces } = wordSpaces(corpus, corpus.fields.get(name)!);
      return { name, weight, similarity: alike(field.kind === 'name' ? [words, pieces] : [words]) };
    }
    case 'code':
      return { name, weight, similarity: byValue(corpus, (record) => codeOf(text(record)), codeSimilarity) };
    case 'version':
      return {
        name,
        weight,
        similarity: byValue(corpus, (record) => versionOf(text(record)), versionSimilarity),
      };
    case 'choice':
      return {
        name,
        weight,
        similarity: byValue(
          corpus,
          (record) => fold(text(record)),
          (a, b) => (a === b ? 1 : 0),
        ),
      };
    case 'number':
      return {
        name,
        weight,
        similarity: byValue(
          corpus,
          (record) => numberOf(record.values[name]),
          numberSimilarity,
          Number.isFinite,
        ),
      };
  }
}

/** Compares one value of each record, which is made once. */
function byValue<T>(
  { left, right }: Corpus,
  makeValue: (record: MatchRecord) => T,
  similarity: (a: T, b: T) => number,
  isGiven: (value: T) => boolean = (value) => (value as { length: number }).length > 0,
): Aspect['similarity'] {
  const lefts = left.map(makeValue);
  const rights = right ? right.map(makeValue) : lefts;
  return (a, b) =>
    isGiven(lefts[a]!) && isGiven(rights[b]!) ? similarity(lefts[a]!, rights[b]!) : Number.NaN;
}
