import { cellsOf } from '../../kit/delimited.ts';

/** A table as a file has it: the names of its columns, and its rows. */
export interface FileTable {
  header: string[];
  rows: string[][];
  book?: Book;
}

/** The workbook that a table comes from. */
export interface Book {
  file: File;
  sheets: string[];
  /** The sheet that is shown. */
  sheet: string;
  /** The number of each row in the sheet. */
  lines: number[];
  /** Of each row the columns with texts such as `1.234`, which can be thousands or decimals. */
  ambiguous: readonly (readonly number[])[];
  /** How many formulas have no result. */
  uncalculated: number;
}

const SEPARATORS = [',', ';', '\t'] as const;

/** The separator that a first line has most often, outside of quotes. */
function separatorOf(text: string): string {
  const line = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)?.[0].replace(/"(?:[^"]|"")*"/g, '') ?? '';
  const counts = SEPARATORS.map((one) => line.split(one).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))]!;
}

/** Reads CSV by RFC 4180 with any usual separator; empty lines are left out. */
export function readCsv(given: string): FileTable {
  const text = given.replace(/^\uFEFF/, '');
  const lines = cellsOf(text, separatorOf(text)).filter((line) => line.some((one) => one.trim() !== ''));
  const [header = [], ...rows] = lines;
  return { header: header.map((name) => name.trim()), rows };
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

/** CSV of columns and rows, and the line of the text at which each row begins. */
export function writeCsv(header: readonly string[], rows: readonly string[][]) {
  const lines: number[] = [];
  let line = 2;
  const texts = rows.map((row) => {
    lines.push(line);
    line += 1 + row.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
    return row.map(quoted).join(',');
  });
  return { text: `${[header.map(quoted).join(','), ...texts].join('\n')}\n`, lines };
}
