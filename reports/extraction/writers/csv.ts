import type { Writable } from 'node:stream';
import { joinValues, neutralise, quoteCell } from '../../../domain/transfer/csv-cells.ts';
import type { Cell, Column, OnRows, Table } from '../extraction.types.ts';
import { pump } from './pump.ts';

export interface CsvOptions {
  /** Guard texts against being calculated by a spreadsheet. */
  neutralise: boolean;
  signal?: AbortSignal;
  onRows?: OnRows;
}

const CHUNK = 64 * 1024;

/** A text that may stand as it is: no separator, quote or line break, no blank at an end, nothing to calculate. */
const plain = /^(?![=+\-@' ])[^",;\t\r\n]*(?<! )$/;

function cellWriter(column: Column, guard: boolean): (cell: Cell) => string {
  const guarded = guard ? (text: string) => quoteCell(neutralise(text)) : quoteCell;
  const asText = (text: string) => (plain.test(text) ? text : guarded(text));
  switch (column.type) {
    case 'number':
    case 'boolean':
      return (cell) => (typeof cell === 'string' ? asText(cell) : String(cell));
    case 'key':
    case 'csv':
    case 'datetime':
      return String;
    case 'multi':
      return (cell) => asText(Array.isArray(cell) ? joinValues(cell) : String(cell));
    default:
      return (cell) => asText(String(cell));
  }
}

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF), at the pace of whoever reads; memory holds a batch.
 * Ends the stream; destroys it on failure. @throws the signal's reason when aborted.
 */
export async function writeCsv(table: Table, out: Writable, options: CsvOptions): Promise<void> {
  await pump(csvChunks(table, options), out, options.signal);
}

/** Lines are put together here, since csv-stringify takes four times as long for them. */
async function* csvChunks(table: Table, options: CsvOptions): AsyncGenerator<string> {
  const writers = table.columns.map((column) => cellWriter(column, options.neutralise));
  const width = writers.length;
  // what stands between two filled cells of a line
  const commas = Array.from({ length: width }, (_, n) => ','.repeat(n));
  const headers = table.columns.map(({ header, type }) => (type === 'csv' ? header : quoteCell(header)));
  let text = `${headers.join(',')}\r\n`;
  for await (const rows of table.batches) {
    for (const row of rows) {
      let at = 0;
      for (let n = 0; n < width; n += 1) {
        const cell = row[n];
        if (cell === null || cell === undefined) continue;
        text += commas[n - at];
        text += writers[n]!(cell);
        at = n;
      }
      text += commas[width - 1 - at];
      text += '\r\n';
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
    }
    options.onRows?.(rows.length);
  }
  yield text;
}
