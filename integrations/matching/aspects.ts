import { BINS } from './bits.ts';
import { type Corpus, inPieces, isName, isWordy, joined, wordsFor } from './corpus.ts';
import { listSimilarity } from './lists.ts';
import {
  ALL_CODES,
  ALL_WORDS,
  type MatchField,
  type MatchModel,
  type MatchRecord,
  NUMBERS,
} from './matching.types.ts';
import { fold } from './normalise.ts';
import type { Rows } from './numbers.ts';
import { itemsOf, textOf } from './records.ts';
import { seriesSimilarity } from './series.ts';
import {
  codeOf,
  codeSimilarity,
  dateSimilarity,
  dayOf,
  numberOf,
  numberSimilarity,
  sharedOf,
  versionOf,
  versionSimilarity,
} from './similarity.ts';
import { type Variant, variantOf, variantSimilarity } from './variants.ts';
import { cosine, isEmpty, type Space, spaceOf } from './vectors.ts';

/** Something that is compared of two records. */
export interface Aspect {
  name: string;
  weight: number;
  /** Where it is a rule and not learned, by bin: parts of the bits that outweigh all that words can say. */
  rule?: readonly number[];
  /** Whether it compares what names one thing alone, such as serial numbers: no rule outweighs that. */
  isCode?: boolean;
  /** 0..1, or NaN where one of the rows has no value. */
  similarity(left: number, right: number): number;
}

/** What a comparison looks at, and the spaces in which candidates are near each other. */
export interface Aspects {
  aspects: Aspect[];
  /** Of all words, of their pieces, of all codes, and of sets. */
  near: Space[];
  /** All spaces whose terms a model counts. */
  spaces: Space[];
}

/** Of a contradiction, of what one name alone says, and of agreement: shares of what outweighs all words. */
const ruled = (contradiction: number, oneSided: number): number[] =>
  Array.from({ length: BINS }, (_, bin) => (bin < 3 ? 0 - contradiction : bin < 7 ? 0 - oneSided : 0));
const RULES = {
  environment: ruled(1, 0.9),
  version: ruled(1, 0.05),
  region: ruled(1, 0.1),
  series: ruled(0.5, 0),
};

/**
 * The aspects of the fields; those of all words and of all codes where there are fields of words; and the rules of variants
 * where there are names. With a model its terms weigh what they did when it was learned.
 */
export function aspectsOf(
  corpus: Corpus,
  fields: readonly MatchField[],
  model: Pick<MatchModel, 'terms'> | undefined,
): Aspects {
  const used = fields.filter(({ weight = 1 }) => weight > 0);
  const spaces: Space[] = [];
  const space: MakeSpace = (name, terms, left, right) => {
    const made = spaceOf(name, terms, left, right, model?.terms[name]);
    spaces.push(made);
    return made;
  };
  const own = used.flatMap((field) => fieldAspects(corpus, field, space));
  const sets = spaces.filter(({ name }) => name.startsWith('ids '));
  const wordy = used.filter(isWordy);
  if (wordy.length === 0) return { aspects: own, near: sets, spaces };
  const weight = Math.max(...wordy.map(({ weight = 1 }) => weight));
  const all = wordSpaces(corpus, 'all', joinedFields(corpus, wordy), space);
  const codes = space('codes', corpus.codes.terms, corpus.codes.left, corpus.codes.right);
  const together: Aspect[] = [
    { name: ALL_WORDS, weight, similarity: alike([all.words, all.pieces]) },
    { name: ALL_CODES, weight, isCode: true, similarity: alike([codes]) },
  ];
  return {
    aspects: [
      ...own,
      ...(wordy.length === 1 && own.length === 1 ? together.slice(1) : together),
      ...variantAspects(corpus, used),
    ],
    near: [all.words, all.pieces, codes, ...sets],
    spaces,
  };
}

type MakeSpace = (name: string, terms: readonly string[], left: Rows, right: Rows | null) => Space;

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

function wordSpaces(
  { words, pieces }: Corpus,
  name: string,
  { left, right }: Sides,
  space: MakeSpace,
): { words: Space; pieces: Space } {
  return {
    words: space(`words ${name}`, words, left, right),
    pieces: space(`pieces ${name}`, pieces.terms, inPieces(left, pieces), right && inPieces(right, pieces)),
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

function fieldAspects(corpus: Corpus, field: MatchField, space: MakeSpace): Aspect[] {
  const { name, kind, weight = 1 } = field;
  const text = (record: MatchRecord) => textOf(record, name);
  const aspect = (similarity: Aspect['similarity']): Aspect[] => [{ name, weight, similarity }];
  const compared = <T>(
    make: (record: MatchRecord) => T,
    similarity: (a: T, b: T) => number,
    isGiven?: (value: T) => boolean,
  ) => byValue(corpus, make, similarity, isGiven);
  switch (kind) {
    case 'name':
    case 'text':
    case 'address': {
      const { left, right } = corpus.fields.get(name)!;
      const words = space(`words ${name}`, corpus.words, left, right);
      if (kind === 'text') return aspect(alike([words]));
      const { pieces } = corpus;
      const inParts = space(
        `pieces ${name}`,
        pieces.terms,
        inPieces(left, pieces),
        right && inPieces(right, pieces),
      );
      const named = aspect(alike([words, inParts]));
      return kind === 'name' ? named : [...named, numbersAspect(corpus, field)];
    }
    case 'list': {
      const { words } = wordSpaces(corpus, name, corpus.fields.get(name)!, space);
      return aspect(listSimilarity(corpus, field, words));
    }
    case 'set': {
      const { terms, left, right } = corpus.sets.get(name)!;
      return aspect(alike([space(`ids ${name}`, terms, left, right)]));
    }
    case 'code':
      return [
        {
          name,
          weight,
          isCode: true,
          similarity: compared((record) => codeOf(text(record)), codeSimilarity),
        },
      ];
    case 'version':
      return aspect(compared((record) => versionOf(text(record)), versionSimilarity));
    case 'choice':
      return aspect(
        compared(
          (record) => fold(text(record)),
          (a, b) => (a === b ? 1 : 0),
        ),
      );
    case 'number':
      return aspect(
        compared((record) => numberOf(record.values[name] ?? null), numberSimilarity, Number.isFinite),
      );
    case 'date':
      return aspect(compared((record) => dayOf(text(record)), dateSimilarity, Number.isFinite));
  }
}

/** House numbers and the like: what two addresses have in common of them. */
function numbersAspect(corpus: Corpus, { name, weight = 1 }: MatchField): Aspect {
  return {
    name: `${name}${NUMBERS}`,
    weight,
    similarity: byValue(
      corpus,
      (record) => [...new Set(fold(textOf(record, name)).match(/\p{N}+/gu) ?? [])].slice(0, 8),
      sharedOf,
    ),
  };
}

/** What the first name says of the variant, and whether two names differ as those of a series do. */
function variantAspects(corpus: Corpus, fields: readonly MatchField[]): Aspect[] {
  const field = fields.find(({ kind }) => kind === 'name') ?? fields.find(isName);
  if (!field) return [];
  const variants = (records: readonly MatchRecord[]) =>
    records.map((record) => variantOf(itemsOf(record, field.name)[0] ?? ''));
  const lefts = variants(corpus.left);
  const rights = corpus.right ? variants(corpus.right) : lefts;
  const rule = (what: keyof Variant): Aspect => ({
    name: `*${what}`,
    weight: 1,
    rule: RULES[what],
    similarity: (a, b) => variantSimilarity(what, lefts[a]![what], rights[b]![what]),
  });
  const series = new Set(corpus.dictionary.series);
  return [
    rule('environment'),
    rule('version'),
    rule('region'),
    {
      name: '*series',
      weight: 1,
      rule: RULES.series,
      similarity:
        series.size > 0
          ? byValue(corpus, wordsFor(field, corpus.dictionary), (a, b) => seriesSimilarity(a, b, series))
          : () => Number.NaN,
    },
  ];
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
