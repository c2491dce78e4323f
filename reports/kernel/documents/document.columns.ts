import type { Cell } from './document.types.ts';

/** Maximum characters of a line that widen a column, and of a word that is not broken. */
const LINE = 60;
const WORD = 18;
/** Allowance for padding and wide letters, in characters. */
const EDGES = 4;
/** Number of columns above which a table has a smaller font. */
const FEW = 6;

/** Widths of a table's columns. */
export interface Columns {
  /** Relative widths; their sum is 1. */
  shares: number[];
  /** Whether the table needs a smaller font. */
  small: boolean;
  /** By column: the maximum characters of a word that fit. */
  letters: number[];
}

/**
 * Computes the column widths of a table: each column fits its longest word, and the remaining width is distributed to
 * columns with longer texts. If the words do not fit, the width is distributed in proportion.
 */
export function columnsOf(header: Cell[] | null, rows: readonly Cell[][]): Columns {
  const count = Math.max(1, header?.length ?? 0, ...rows.map((row) => row.length));
  const small = count > FEW;
  const room = small ? 112 : 82;
  const least: number[] = [];
  const wanted: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const texts = rows.map((row) => textOf(row[n]));
    // a heading can be broken between words, not within them
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
