import { Lexicon } from './lexicon.ts';
import type { FieldKind, MatchField, MatchRecord } from './matching.types.ts';
import { type Numbers, type Rows, rowsOf } from './numbers.ts';
import { codesOf, piecesOf, wordsOf } from './tokens.ts';

/** The words of both lists in one field. */
export interface FieldRows {
  left: Rows;
  right: Rows | null;
}

/** The records of two lists, or of one, as numbers of terms. */
export interface Corpus {
  left: readonly MatchRecord[];
  /** null where `left` is compared with itself. */
  right: readonly MatchRecord[] | null;
  words: string[];
  /** The words of each field that is made of words, in their order. */
  fields: ReadonlyMap<string, FieldRows>;
  /** The codes of all these fields together. */
  codes: FieldRows & { terms: number };
  /** By word: the pieces that it is made of. */
  pieces: Rows & { terms: number };
}

const WORDY: ReadonlySet<FieldKind> = new Set(['name', 'text', 'code']);
/** Neighbouring letters in a piece of a word. */
const PIECE = 4;
/** Pieces of a record's words that are kept, the first ones. */
const MOST_PIECES = 256;

/** A value as text; a missing one is empty. */
export const textOf = (record: MatchRecord, field: string): string => `${record.values[field] ?? ''}`;

/** Whether a field is made of words, and takes part in what is said of all words. */
export const isWordy = ({ kind }: MatchField): boolean => WORDY.has(kind);

/** Takes the records apart, each text once. */
export function corpusOf(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  fields: readonly MatchField[],
): Corpus {
  const wordy = fields.filter(isWordy);
  const lexicon = new Lexicon();
  const rowsIn = (records: readonly MatchRecord[], field: string) =>
    rowsOf(records.length, (row, items) => {
      for (const word of wordsOf(textOf(records[row]!, field))) items.push(lexicon.numberOf(word));
    });
  const fieldRows = new Map(
    wordy.map(({ name }) => [name, { left: rowsIn(left, name), right: right && rowsIn(right, name) }]),
  );
  const words = lexicon.settle([...fieldRows.values()].flatMap(bothSides));
  return {
    left,
    right,
    words,
    fields: fieldRows,
    codes: codeRows(left, right, wordy),
    pieces: pieceRows(words),
  };
}

const bothSides = ({ left, right }: FieldRows): Rows[] => (right ? [left, right] : [left]);

function codeRows(
  left: readonly MatchRecord[],
  right: readonly MatchRecord[] | null,
  wordy: readonly MatchField[],
): Corpus['codes'] {
  const lexicon = new Lexicon();
  const rowsIn = (records: readonly MatchRecord[]) =>
    rowsOf(records.length, (row, items) => {
      for (const { name } of wordy)
        for (const code of codesOf(textOf(records[row]!, name))) items.push(lexicon.numberOf(code));
    });
  const rows = { left: rowsIn(left), right: right && rowsIn(right) };
  return { ...rows, terms: lexicon.settle(bothSides(rows)).length };
}

function pieceRows(words: readonly string[]): Corpus['pieces'] {
  const lexicon = new Lexicon();
  const rows = rowsOf(words.length, (word, items) => {
    for (const piece of piecesOf(words[word]!, PIECE)) items.push(lexicon.numberOf(piece));
  });
  return { ...rows, terms: lexicon.settle([rows]).length };
}

/** The rows of several fields put one behind the other. */
export function joined(rows: readonly Rows[], count: number): Rows {
  return rowsOf(count, (row, items) => {
    for (const { starts, items: from } of rows) copy(from, starts[row]!, starts[row + 1]!, items);
  });
}

/** Rows of words as rows of their pieces. */
export function inPieces(words: Rows, pieces: Rows): Rows {
  return rowsOf(words.starts.length - 1, (row, items) => {
    const limit = items.length + MOST_PIECES;
    for (let at = words.starts[row]!; at < words.starts[row + 1]! && items.length < limit; at++) {
      const word = words.items[at]!;
      copy(pieces.items, pieces.starts[word]!, pieces.starts[word + 1]!, items);
    }
  });
}

function copy(from: Uint32Array, start: number, end: number, to: Numbers): void {
  for (let at = start; at < end; at++) to.push(from[at]!);
}
