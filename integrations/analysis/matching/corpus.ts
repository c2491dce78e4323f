import { acronymsIn, writtenOut } from './acronyms.ts';
import { findCompounds } from './joints.ts';
import type { Dictionary, FieldKind, MatchField, MatchRecord } from './matching.types.ts';
import {
  addressWords,
  nameReader,
  rawNameWords,
  umlautsIn,
  withoutDomains,
  withoutLeading,
  wordReader,
} from './names.ts';
import { memoized } from './normalise.ts';
import { mapped, Numbers, type Paused, type RowSource, type Rows, rowsOf, sourceOf } from './numbers.ts';
import { itemsOf, textOf } from './records.ts';
import { SeriesFinder } from './series.ts';
import { codesOf, piecesOf, withStems, wordsOf } from './tokens.ts';
import type { VendorOf } from './vendors.ts';
import { isDistinctive } from './vocabulary.ts';

/** The words of both lists in one field. */
interface FieldRows {
  left: Rows;
  right: Rows | null;
}

/** The records of one or two lists, tokenised to term numbers. */
export interface Corpus {
  left: readonly MatchRecord[];
  /** Null if `left` is compared with itself. */
  right: readonly MatchRecord[] | null;
  words: string[];
  /** The words of each word field, in order. */
  fields: ReadonlyMap<string, FieldRows>;
  /** The codes of all word fields. */
  codes: FieldRows & { terms: string[] };
  /** The ids of each set field. */
  sets: ReadonlyMap<string, FieldRows & { terms: string[] }>;
  /** By word: its pieces (character n-grams). */
  pieces: Rows & { terms: string[] };
  dictionary: Dictionary;
  vendorOf: VendorOf;
  /** Whether both lists are parts of one, or the same. */
  isOneList: boolean;
}

const WORDY: ReadonlySet<FieldKind> = new Set(['name', 'list', 'address', 'text', 'code']);
/** Length of a piece. */
const PIECE = 4;
/** Maximum number of pieces per record. */
const MOST_PIECES = 256;
/** Minimum number of records whose vendor begins with a word, for this word to be a leading word of names. */
const LEAST_LEADING = 2;
/** Size of the cache of parsed vendor names. */
const MOST_VENDORS = 5_000;

/** Whether a field consists of words and is part of the aspect of all words. */
export const hasWords = ({ kind }: MatchField): boolean => WORDY.has(kind);
/** Whether a field contains names of the object. */
export const isName = ({ kind }: MatchField): boolean => kind === 'name' || kind === 'list';

type Words = (record: MatchRecord) => readonly string[];

/** Tokenises the records with the dictionary of a model, or one derived from the records. */
export function* corpusOf(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  fields: readonly MatchField[],
  vendorOf: VendorOf,
  known?: Dictionary,
  isOneList = right === null,
): Paused<Corpus> {
  const wordy = fields.filter(hasWords);
  const dictionary = known ?? (yield* dictionaryOf(() => (right ? [left, right] : [left]), fields, vendorOf));
  const lexicon = new Lexicon();
  const rowsIn = (records: readonly MatchRecord[], words: Words) =>
    rowsOf(records.length, (row, items) => {
      for (const word of words(records[row]!)) items.push(lexicon.numberOf(word));
    });
  const fieldRows = new Map<string, FieldRows>();
  for (const field of wordy) {
    const words = wordsFor(field, dictionary, vendorOf);
    fieldRows.set(field.name, {
      left: yield* rowsIn(left, words),
      right: right && (yield* rowsIn(right, words)),
    });
  }
  const words = lexicon.settle([...fieldRows.values()].flatMap(bothSides));
  const codes = yield* termRows(left, right, (record) =>
    wordy.flatMap((field) => {
      const text = textOf(record, field.name);
      return withStems(codesOf(isName(field) ? withoutDomains(text) : text));
    }),
  );
  const sets = new Map<string, Corpus['codes']>();
  for (const { name } of fields.filter(({ kind }) => kind === 'set'))
    sets.set(name, yield* termRows(left, right, (record) => itemsOf(record, name)));
  const pieces = yield* pieceRows(words);
  return { left, right, words, fields: fieldRows, codes, sets, pieces, dictionary, vendorOf, isOneList };
}

/** The words of a record's field by its kind. */
export function wordsFor(field: MatchField, dictionary: Dictionary, vendorOf: VendorOf): Words {
  const { name, kind, without } = field;
  if (kind === 'address') return (record) => addressWords(textOf(record, name));
  if (!isName(field)) return (record) => wordsOf(textOf(record, name));
  const read = nameReader(dictionary);
  if (kind === 'list') return (record) => itemsOf(record, name).flatMap(read);
  const readVendor = memoized(read, MOST_VENDORS);
  const leading = new Set(dictionary.leading[name]);
  const alone = new Set(dictionary.alone[name]);
  return (record) => {
    const words = read(textOf(record, name));
    if (!without) return words;
    const own = readVendor(textOf(record, without));
    const known = vendorOf(words)?.length ?? 0;
    return withoutLeading(
      words,
      (word, at) => (at < known || leading.has(word) || own.includes(word)) && !alone.has(word),
    );
  };
}

/** Records in pages, which are read anew each time. */
export type Pages = () => Iterable<readonly MatchRecord[]>;

/** Calls a function with each record, yielding between parts. */
function* each(pages: Pages, see: (record: MatchRecord) => void): Paused<void> {
  for (const page of pages()) yield* mapped(page, see);
}

/** Derives the facts about words in names from the records. */
export function* dictionaryOf(
  pages: Pages,
  fields: readonly MatchField[],
  vendorOf: VendorOf,
): Paused<Dictionary> {
  const names = fields.filter((field) => isName(field) && field.weight !== 0);
  const dictionary: Dictionary = {
    acronyms: {},
    joints: [],
    umlauts: [],
    leading: {},
    alone: {},
    series: [],
  };
  Object.assign(dictionary, yield* spellingsOf(pages, names, dictionary));
  for (const { name, without } of names) {
    if (!without) continue;
    const counts = new Map<string, number>();
    const read = memoized(nameReader(dictionary), MOST_VENDORS);
    const vendors = new Set<string>();
    yield* each(pages, (record) => {
      const words = read(textOf(record, without));
      for (const word of words) vendors.add(word);
      const first = words[0];
      if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
    });
    const alone = new Set<string>();
    yield* each(pages, (record) => {
      const text = textOf(record, name).trim();
      const words = /\s/.test(text) ? [] : read(text);
      if (words.length === 1 && vendors.has(words[0]!)) alone.add(words[0]!);
    });
    dictionary.alone[name] = [...alone].sort();
    dictionary.leading[name] = [...counts.keys()].filter((word) => counts.get(word)! >= LEAST_LEADING).sort();
  }
  const first = names.find(({ kind }) => kind === 'name');
  if (first) {
    const words = wordsFor(first, dictionary, vendorOf);
    const series = new SeriesFinder();
    yield* each(pages, (record) => series.add(words(record)));
    dictionary.series = series.found();
  }
  return dictionary;
}

/** Derives spellings from the records; the intermediate data, as large as the records, is freed on return. */
function* spellingsOf(
  pages: Pages,
  names: readonly MatchField[],
  none: Dictionary,
): Paused<Pick<Dictionary, 'joints' | 'umlauts' | 'acronyms'>> {
  const texts = new Set<string>();
  yield* each(pages, (record) => {
    for (const { name } of names) for (const item of itemsOf(record, name)) texts.add(item);
  });
  // many names have the same words
  const known = new Map<string, string>();
  const shared = (word: string) => {
    if (!known.has(word)) known.set(word, word);
    return known.get(word)!;
  };
  const raw = yield* mapped([...texts], (text) => rawNameWords(text).map(shared));
  const spellings = { joints: findCompounds(raw), umlauts: umlautsIn(raw), acronyms: none.acronyms };
  const acronyms = acronymsIn(texts);
  if (acronyms.length === 0) return spellings;
  const read = wordReader({ ...none, ...spellings });
  return { ...spellings, acronyms: writtenOut(acronyms, yield* mapped(raw, read)) };
}

const bothSides = ({ left, right }: FieldRows): Rows[] => (right ? [left, right] : [left]);

function* termRows(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  termsOf: (record: MatchRecord) => string[],
): Paused<Corpus['codes']> {
  const lexicon = new Lexicon();
  const rowsIn = (records: readonly MatchRecord[]) =>
    rowsOf(records.length, (row, items) => {
      for (const term of termsOf(records[row]!)) items.push(lexicon.numberOf(term));
    });
  const rows = { left: yield* rowsIn(left), right: right && (yield* rowsIn(right)) };
  return { ...rows, terms: lexicon.settle(bothSides(rows)) };
}

function* pieceRows(words: readonly string[]): Paused<Corpus['pieces']> {
  const lexicon = new Lexicon();
  const rows = yield* rowsOf(words.length, (word, items) => {
    if (!isDistinctive(words[word]!)) return;
    for (const piece of piecesOf(words[word]!, PIECE)) items.push(lexicon.numberOf(piece));
  });
  return { ...rows, terms: lexicon.settle([rows]) };
}

/** Concatenates the rows of several fields. */
export function joined(rows: readonly Rows[], count: number): RowSource {
  const sources = rows.map(sourceOf);
  return {
    count,
    fill(row, items) {
      for (const source of sources) source.fill(row, items);
    },
  };
}

/** The pieces of rows of words. */
export function inPieces({ count, fill }: RowSource, pieces: Rows): RowSource {
  const ofWord = sourceOf(pieces);
  const words = new Numbers();
  return {
    count,
    fill(row, items) {
      words.length = 0;
      fill(row, words);
      const limit = items.length + MOST_PIECES;
      const read = words.items();
      for (let at = 0; at < read.length && items.length < limit; at++) ofWord.fill(read[at]!, items);
    },
  };
}

/** Assigns numbers to terms, from 0 in order of first occurrence. */
class Lexicon {
  readonly #numbers = new Map<string, number>();

  numberOf(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    this.#numbers.set(term, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /**
   * The terms in the order of their characters. The numbers in `rows` are changed to places in that list, so that nothing that
   * is computed from them depends on which term was seen first.
   */
  settle(rows: Iterable<Rows>): string[] {
    const terms = [...this.#numbers.keys()].sort();
    const places = new Uint32Array(terms.length);
    for (const [place, term] of terms.entries()) places[this.#numbers.get(term)!] = place;
    for (const { items } of rows) for (let at = 0; at < items.length; at++) items[at] = places[items[at]!]!;
    return terms;
  }
}
