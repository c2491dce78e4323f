import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { joinValues, neutralise, quoteCell } from '../../../domain/transfer/csv-cells.ts';
import type { Cell, Column, OnRows, Table } from '../extraction.types.ts';

export interface CsvOptions {
  /** Guard texts against being calculated by a spreadsheet. */
  neutralise: boolean;
  signal?: AbortSignal;
  onRows?: OnRows;
}

const CHUNK = 64 * 1024;

function cellWriter(column: Column, guard: boolean): (cell: Cell) => string {
  const asText = guard ? (text: string) => quoteCell(neutralise(text)) : quoteCell;
  switch (column.type) {
    case 'number':
    case 'boolean':
      return (cell) =>
        cell === null || cell === undefined ? '' : typeof cell === 'string' ? asText(cell) : String(cell);
    case 'multi':
      return (cell) =>
        cell === null || cell === undefined
          ? ''
          : asText(Array.isArray(cell) ? joinValues(cell) : String(cell));
    default:
      return (cell) => (cell === null || cell === undefined ? '' : asText(cell as string));
  }
}

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF), at the pace of whoever reads; memory holds a batch.
 * Ends the stream. @throws the signal's reason when aborted.
 */
export async function writeCsv(table: Table, out: Writable, options: CsvOptions): Promise<void> {
  const writers = table.columns.map((column) => cellWriter(column, options.neutralise));
  let text = `${table.columns.map(({ header }) => quoteCell(header)).join(',')}\r\n`;
  const flush = async () => {
    if (!out.write(text) && !out.destroyed) {
      await Promise.race([once(out, 'drain'), once(out, 'close')]);
    }
    text = '';
    if (out.destroyed) throw out.errored ?? new Error('the reader has gone');
  };
  for await (const rows of table.batches) {
    options.signal?.throwIfAborted();
    for (const row of rows) {
      let line = '';
      for (let n = 0; n < writers.length; n += 1) {
        if (n > 0) line += ',';
        const cell = row[n];
        if (cell !== null && cell !== undefined) line += writers[n]!(cell);
      }
      text += `${line}\r\n`;
      if (text.length >= CHUNK) await flush();
    }
    options.onRows?.(rows.length);
  }
  await flush();
  out.end();
}
