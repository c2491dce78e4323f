import type { Cell } from './document.types.ts';

/** Characters of a cell's longest line beyond which a column gets no wider, and those of a word that is kept whole. */
const LINE = 60;
const WORD = 18;
/** The edges of a column, and that some letters are wider than others, in characters. */
const EDGES = 4;
/** Columns beyond which a table is written in smaller letters. */
const FEW = 6;

/** How the columns of a table share the width. */
export interface Columns {
  /** Together 1. */
  shares: number[];
  /** Whether there are so many that smaller letters are due. */
  small: boolean;
  /** By column: how many characters of a word have room. */
  letters: number[];
}

/**
 * The columns of a table by what stands in it: each gets room for its longest word, and what is left goes to those whose
 * texts are longer. Where there is no room for all words, they share it in proportion.
 */
export function columnsOf(header: Cell[] | null, rows: readonly Cell[][]): Columns {
  const count = Math.max(1, header?.length ?? 0, ...rows.map((row) => row.length));
  const small = count > FEW;
  const room = small ? 112 : 82;
  const least: number[] = [];
  const wanted: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const texts = rows.map((row) => textOf(row[n]));
    // the text of a heading may be broken, its words should not
    const word = Math.max(...[textOf(header?.[n]), ...texts].map((text) => longest(text, /\s+/)));
    const line = Math.max(0, ...texts.map((text) => longest(text, /\n/)));
    least.push(Math.min(word, WORD) + EDGES);
    wanted.push(Math.max(0, Math.min(line, LINE) + EDGES - least[n]!));
  }
  const taken = sum(least);
  const left = room - taken;
  const more = sum(wanted);
  const shares = least.map((need, n) => {
    if (left <= 0) return need / taken;
    return (need + (left * (more > 0 ? wanted[n]! : need)) / (more > 0 ? more : taken)) / room;
  });
  return { shares, small, letters: shares.map((share) => Math.max(3, Math.floor(share * room) - EDGES + 1)) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const textOf = (cell: Cell | undefined): string => (cell ?? []).map(({ text }) => text).join('');

const longest = (text: string, between: RegExp): number =>
  text.split(between).reduce((most, part) => Math.max(most, part.length), 0);
