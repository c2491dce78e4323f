import { fold } from '../../../platform/fold.ts';
import { agreementOf } from './agreement.ts';
import { type Corpus, hasWords, inPieces, isName, joined, wordsFor } from './corpus.ts';
import { joinedParts, orderSimilarity } from './joined-names.ts';
import type { AspectTraits } from './learn.ts';
import { listSimilarity } from './lists.ts';
import {
  ALL_CODES,
  ALL_WORDS,
  type MatchField,
  type MatchModel,
  type MatchRecord,
  NUMBERS,
  RARITY,
} from './matching.types.ts';
import { cosineWithSlips } from './misspellings.ts';
import { plainNameWords } from './names.ts';
import { mapped, type Paused, type RowSource, type Rows, sourceOf } from './numbers.ts';
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
import { STEM_MARK } from './tokens.ts';
import { RULES } from './variant-rules.ts';
import { type Variant, variantOf, variantSimilarity } from './variants.ts';
import { cosine, isEmpty, type Space, spaceOf } from './vectors.ts';

/** A comparison of two records in one respect. */
interface Aspect extends AspectTraits {
  /** 0..1, or NaN if one of the rows has no value. */
  similarity(left: number, right: number): number;
}

/** The aspects of a comparison, and the vector spaces for the candidate search. */
export interface Aspects {
  aspects: Aspect[];
  /** Of all words, of their pieces, of all codes, and of sets. */
  near: Space[];
  /** All spaces whose terms a model counts. */
  spaces: Space[];
}

/**
 * Creates the aspects of the fields; with word fields also those of all words and all codes; with names also the variant rules.
 * With a model, terms have the weights of its training data.
 */
export function* aspectsOf(
  corpus: Corpus,
  fields: readonly MatchField[],
  model: Pick<MatchModel, 'terms'> | undefined,
): Paused<Aspects> {
  const used = fields.filter(({ weight = 1 }) => weight > 0);
  const spaces: Space[] = [];
  const space: MakeSpace = function* (name, terms, { left, right }) {
    const made = yield* spaceOf(name, terms, left, right, model?.terms[name]);
    spaces.push(made);
    return made;
  };
  const own: Aspect[] = [];
  for (const field of used) own.push(...(yield* fieldAspects(corpus, field, space)));
  const first = firstName(used);
  for (const aspect of own) if (aspect.name === first?.name) aspect.isNaming = true;
  const named = spaces.find(({ name }) => name === `words ${first?.name}`);
  if (first?.kind === 'name' && named)
    own.push({ name: RARITY, weight: first.weight ?? 1, similarity: rarityOf(named) });
  const sets = spaces.filter(({ name }) => name.startsWith('ids '));
  const wordy = used.filter(hasWords);
  if (wordy.length === 0) return { aspects: own, near: sets, spaces };
  const weight = Math.max(...wordy.map(({ weight = 1 }) => weight));
  const all = yield* wordSpaces(corpus, 'all', joinedFields(corpus, wordy), space);
  const codes = yield* space('codes', corpus.codes.terms, sidesOf(corpus.codes));
  const together: Aspect[] = [
    {
      name: ALL_WORDS,
      weight,
      isNaming: true,
      similarity: alikeWords(all.words, all.pieces, cosineWithSlips),
    },
    {
      name: ALL_CODES,
      weight,
      isCode: true,
      isNaming: true,
      similarity: alikeCodes(codes, corpus.isOneList),
    },
  ];
  return {
    aspects: [...own, ...together, ...(yield* variantAspects(corpus, used))],
    near: [all.words, all.pieces, codes, ...sets],
    spaces,
  };
}

/** The first name field, which names the object; further name fields can be the vendor, for example. */
const firstName = (fields: readonly MatchField[]): MatchField | undefined =>
  fields.find(({ kind }) => kind === 'name') ?? fields.find(isName);

type MakeSpace = (name: string, terms: readonly string[], sides: Sides) => Paused<Space>;

interface Sides {
  left: RowSource;
  right: RowSource | null;
}

const sidesOf = ({ left, right }: { left: Rows; right: Rows | null }): Sides => ({
  left: sourceOf(left),
  right: right && sourceOf(right),
});

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

function* wordSpaces(
  { words, pieces }: Corpus,
  name: string,
  { left, right }: Sides,
  space: MakeSpace,
): Paused<{ words: Space; pieces: Space }> {
  return {
    words: yield* space(`words ${name}`, words, { left, right }),
    pieces: yield* space(`pieces ${name}`, pieces.terms, {
      left: inPieces(left, pieces),
      right: right && inPieces(right, pieces),
    }),
  };
}

/** The mean cosine over the spaces in which both rows have terms; NaN if there is none. */
function alike(spaces: readonly Space[]): Aspect['similarity'] {
  return (a, b) => {
    let [sum, count] = [0, 0];
    for (const { left, right } of spaces) {
      if (isEmpty(left, a) || isEmpty(right, b)) continue;
      sum += cosine(left, a, right, b);
      count++;
    }
    return sum / count;
  };
}

/** Minimum cosine of names whose words count as the same. */
const SAME_WORDS = 0.9;
/** The records with the same words expected by chance for a rarity of 0, and the share of them per unit, in bits. */
const RARITY_SCALE = { most: 4, range: 16 };
/** The number of further records that a word of two records is expected in. */
const LEAST_FURTHER = 0.5;

/**
 * How rare the common words of equal names are: the number of records that would have them by chance, if words were combined at
 * random, as a number of 0..1. NaN for names that differ.
 */
function rarityOf({ left, right, counts, rows }: Space): Aspect['similarity'] {
  return (a, b) => {
    if (isEmpty(left, a) || isEmpty(right, b) || cosine(left, a, right, b) < SAME_WORDS) return Number.NaN;
    const others = right.terms.subarray(right.starts[b]!, right.starts[b + 1]!);
    let bits = -Math.log2(rows);
    for (const term of left.terms.subarray(left.starts[a]!, left.starts[a + 1]!))
      if (others.includes(term)) bits += Math.log2(rows / (Math.max(0, counts[term]! - 2) + LEAST_FURTHER));
    return Math.min(1, Math.max(0, (bits + RARITY_SCALE.most) / RARITY_SCALE.range));
  };
}

/** A code of more rows than this power of their number names no object, but a series or a site. */
const RARE_CODE = 0.5;

/**
 * The cosine of codes, reduced if the rarest common one is in many rows. In one list, codes that only begin alike (`txsr506b` and
 * `txsr506s`) name variants: the beginning counts if one row has just that.
 */
function alikeCodes(codes: Space, isOneList: boolean): Aspect['similarity'] {
  const needed = isOneList ? neededIn(codes.terms) : codes.terms.map((_, at) => at);
  const similarity = alike([codes]);
  const rare = RARE_CODE * Math.log(codes.rows + 1);
  return (a, b) => {
    const cosine = similarity(a, b);
    if (!(cosine > 0)) return cosine;
    const own = codes.left.terms.subarray(codes.left.starts[a]!, codes.left.starts[a + 1]!);
    const others = codes.right.terms.subarray(codes.right.starts[b]!, codes.right.starts[b + 1]!);
    let rarest = 0;
    for (const term of own) {
      const whole = needed[term];
      if (!others.includes(term) || whole === undefined) continue;
      if (own.includes(whole) || others.includes(whole)) rarest = Math.max(rarest, codes.idf[term]!);
    }
    return cosine * Math.min(1, rarest / rare);
  };
}

/** By code, the term that one of the rows must have: for a beginning, the code that is just that. */
function neededIn(terms: readonly string[]): (number | undefined)[] {
  const places = new Map(terms.map((term, at) => [term, at]));
  return terms.map((term, at) =>
    term.endsWith(STEM_MARK) ? places.get(term.slice(0, -STEM_MARK.length)) : at,
  );
}

/** From this similarity of their words on, pieces of names do not count. */
const CLOSE = 0.85;

/** The similarity of words and of their pieces, with tolerance for misspellings and abbreviations. */
const alikeWords =
  (
    words: Space,
    pieces: Space,
    similarity: (words: Space, a: number, b: number) => number,
  ): Aspect['similarity'] =>
  (a, b) => {
    if (isEmpty(words.left, a) || isEmpty(words.right, b)) return Number.NaN;
    const whole = similarity(words, a, b);
    // fillers and general words have no pieces
    if (whole >= CLOSE || isEmpty(pieces.left, a) || isEmpty(pieces.right, b)) return whole;
    return Math.min(CLOSE, (whole + cosine(pieces.left, a, pieces.right, b)) / 2);
  };

function* fieldAspects(corpus: Corpus, field: MatchField, space: MakeSpace): Paused<Aspect[]> {
  const { name, kind, weight = 1 } = field;
  const text = (record: MatchRecord) => textOf(record, name);
  const aspect = (similarity: Aspect['similarity']): Aspect[] => [{ name, kind, weight, similarity }];
  switch (kind) {
    case 'name':
    case 'text':
    case 'address': {
      const sides = sidesOf(corpus.fields.get(name)!);
      if (kind === 'text') return aspect(alike([yield* space(`words ${name}`, corpus.words, sides)]));
      const { words, pieces } = yield* wordSpaces(corpus, name, sides, space);
      const named = aspect(alikeWords(words, pieces, agreementOf));
      return kind === 'name' ? named : [...named, yield* numbersAspect(corpus, field)];
    }
    case 'list': {
      const words = yield* space(`words ${name}`, corpus.words, sidesOf(corpus.fields.get(name)!));
      return aspect(yield* listSimilarity(corpus, field, words));
    }
    case 'set': {
      const ids = corpus.sets.get(name)!;
      return aspect(alike([yield* space(`ids ${name}`, ids.terms, sidesOf(ids))]));
    }
    case 'code':
      return [
        {
          name,
          kind,
          weight,
          isCode: true,
          isExact: true,
          isNaming: true,
          similarity: yield* byValue(corpus, (record) => codeOf(text(record)), codeSimilarity),
        },
      ];
    case 'version':
      return aspect(yield* byValue(corpus, (record) => versionOf(text(record)), versionSimilarity));
    case 'choice':
      return aspect(
        yield* byValue(
          corpus,
          (record) => fold(text(record)),
          (a, b) => (a === b ? 1 : 0),
        ),
      );
    case 'number':
      return aspect(
        yield* byValue(
          corpus,
          (record) => numberOf(record.values[name] ?? null),
          numberSimilarity,
          Number.isFinite,
        ),
      );
    case 'date':
      return aspect(yield* byValue(corpus, (record) => dayOf(text(record)), dateSimilarity, Number.isFinite));
  }
}

/** The overlap of the numbers (such as house numbers) of two addresses. */
function* numbersAspect(corpus: Corpus, { name, weight = 1 }: MatchField): Paused<Aspect> {
  return {
    name: `${name}${NUMBERS}`,
    weight,
    similarity: yield* byValue(
      corpus,
      (record) => [...new Set(fold(textOf(record, name)).match(/\p{N}+/gu) ?? [])].slice(0, 8),
      sharedOf,
    ),
  };
}

/** The variant rules over the first name field, and the rule for series. */
function* variantAspects(corpus: Corpus, fields: readonly MatchField[]): Paused<Aspect[]> {
  // the aspects must not hold the corpus
  const { dictionary, vendorOf } = corpus;
  const field = firstName(fields);
  if (!field) return [];
  // many records have the same variant, or none
  const known = new Map<string, Variant>();
  const variants = (records: readonly MatchRecord[]) =>
    mapped(records, (record) => {
      const variant = variantOf(itemsOf(record, field.name)[0] ?? '');
      const key = Object.values(variant).join('|');
      if (!known.has(key)) known.set(key, variant);
      return known.get(key)!;
    });
  const lefts = yield* variants(corpus.left);
  const rights = corpus.right ? yield* variants(corpus.right) : lefts;
  const rule = (what: keyof Variant): Aspect => ({
    name: `*${what}`,
    weight: 1,
    rule: RULES[what],
    similarity: (a, b) => variantSimilarity(what, lefts[a]!, rights[b]!),
  });
  const series = new Set(dictionary.series);
  return [
    ...(['environment', 'version', 'region', 'part', 'colour', 'edition', 'platform', 'unit'] as const).map(
      rule,
    ),
    ...(field.without
      ? [
          {
            name: '*vendor',
            weight: 1,
            rule: RULES.vendor,
            similarity: yield* byValue(
              corpus,
              (record) => vendorOf(plainNameWords(textOf(record, field.name)))?.name ?? '',
              (a, b) => (a === b ? 1 : 0),
            ),
          },
        ]
      : []),
    {
      name: '*series',
      weight: 1,
      rule: RULES.series,
      similarity:
        series.size > 0
          ? yield* byValue(corpus, wordsFor(field, dictionary, vendorOf), (a, b) =>
              seriesSimilarity(a, b, series),
            )
          : () => Number.NaN,
    },
    {
      name: '*order',
      weight: 1,
      rule: RULES.order,
      similarity: yield* byValue(
        corpus,
        (record) => joinedParts(textOf(record, field.name)),
        orderSimilarity,
      ),
    },
  ];
}

/** Compares one derived value per record, which is computed once. */
function* byValue<T>(
  { left, right }: Corpus,
  makeValue: (record: MatchRecord) => T,
  similarity: (a: T, b: T) => number,
  isGiven: (value: T) => boolean = (value) => (value as { length: number }).length > 0,
): Paused<Aspect['similarity']> {
  const lefts = yield* mapped(left, makeValue);
  const rights = right ? yield* mapped(right, makeValue) : lefts;
  return (a, b) =>
    isGiven(lefts[a]!) && isGiven(rights[b]!) ? similarity(lefts[a]!, rights[b]!) : Number.NaN;
}
