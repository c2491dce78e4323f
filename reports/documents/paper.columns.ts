import type { Cell } from './paper.types.ts';

/** Characters of a cell's longest line beyond which a column gets no wider, and those of a word that is kept whole. */
const LINE = 60;
const WORD = 18;

/**
 * The share of the width that each column of a table gets, by what stands in it: room for its longest word, and more where
 * its texts are longer. Together 1.
 */
export function columnShares(header: Cell[] | null, rows: readonly Cell[][]): number[] {
  const columns = Math.max(1, header?.length ?? 0, ...rows.map((row) => row.length));
  const needs = Array.from({ length: columns }, (_, n) => {
    // the text of a heading may be broken, its words should not
    const heading = longest(textOf(header?.[n]), /\s+/);
    const texts = rows.map((row) => textOf(row[n]));
    const word = Math.max(heading, ...texts.map((text) => longest(text, /\s+/)));
    const line = Math.max(0, ...texts.map((text) => longest(text, /\n/)));
    return Math.max(Math.min(word, WORD) + 2, Math.min(line, LINE));
  });
  const total = needs.reduce((sum, need) => sum + need, 0);
  return needs.map((need) => need / total);
}

const textOf = (cell: Cell | undefined): string => (cell ?? []).map(({ text }) => text).join('');

const longest = (text: string, between: RegExp): number =>
  text.split(between).reduce((most, part) => Math.max(most, part.length), 0);
