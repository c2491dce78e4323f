import { embed } from '../../../platform/database.ts';
import { MAX_ROW } from '../../kernel/transfer/xlsx.read.ts';

/*
 * Each row of a workbook has a line of its own, from which its sheet and the row in it follow.
 */

/** Lines of other files are smaller: they have less bytes. */
const WORKBOOK = 2 ** 30;

/** What is added to a row to get its line. @param sheet the index of the sheet, from 0. */
export const firstLine = (sheet: number): number => WORKBOOK + sheet * MAX_ROW;

/** SQL of the row in its sheet, and of the number of the sheet from 1. @param line SQL of the line. */
export const placeOfLine = (line: string) => ({
  row: `((${line} - ${WORKBOOK} - 1) % ${MAX_ROW} + 1)`,
  sheet: `((${line} - ${WORKBOOK} - 1) / ${MAX_ROW} + 1)`,
});

/** SQL of what messages call a line. @param line SQL of it. */
export function lineName(line: string): ReturnType<typeof embed> {
  const { row, sheet } = placeOfLine(line);
  return embed(`case when ${line} <= ${WORKBOOK} then 'line ' || ${line}
    else 'row ' || ${row} || ' of sheet ' || ${sheet} end`);
}

/** What messages call a line. */
export function nameOfLine(line: number): string {
  if (line <= WORKBOOK) return `line ${line}`;
  const sheet = Math.floor((line - WORKBOOK - 1) / MAX_ROW);
  return `row ${line - firstLine(sheet)} of sheet ${sheet + 1}`;
}

/** The line, or the row of the sheet that has the other line, too; undefined for one of another sheet. */
export function lineBeside(line: number, other: number): number | undefined {
  if (line <= WORKBOOK) return line;
  const sheet = (of: number) => Math.floor((of - WORKBOOK - 1) / MAX_ROW);
  return sheet(line) === sheet(other) ? line - firstLine(sheet(line)) : undefined;
}
