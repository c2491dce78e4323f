import type { Writable } from 'node:stream';
import { quoteCell } from '../../../domain/transfer/csv-cells.ts';
import type { CsvTable } from '../extraction.csv.ts';
import type { OnRows } from '../extraction.types.ts';
import { pump } from './pump.ts';

export interface CsvOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF), at the pace of whoever reads; memory holds some chunks.
 * Ends the stream; destroys it on failure. @throws the signal's reason when aborted.
 */
export async function writeCsv(table: CsvTable, out: Writable, options: CsvOptions): Promise<void> {
  await pump(csvChunks(table, options), out, options.signal);
}

async function* csvChunks(
  { columns, lines }: CsvTable,
  options: CsvOptions,
): AsyncGenerator<string | Buffer> {
  yield `${columns.map(({ header }) => quoteCell(header)).join(',')}\r\n`;
  for await (const { bytes, rows } of lines) {
    yield bytes;
    options.onRows?.(rows);
  }
}
