import type { Writable } from 'node:stream';
import { quoteCell } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { LineTable } from '../../exchange/extraction/extraction.rows.ts';
import type { OnRows } from './formats.types.ts';
import { pump } from './pump.ts';

interface LineOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF), at the pace of whoever reads; memory holds some chunks.
 * Ends the stream; destroys it on failure. @throws the signal's reason when aborted.
 */
export async function writeCsv(table: LineTable, out: Writable, options: LineOptions): Promise<void> {
  const header = `${table.columns.map((column) => quoteCell(column.header)).join(',')}\r\n`;
  await pump(chunks(table, options, header), out, options.signal);
}

/**
 * Writes a table as one JSON object a line. Otherwise as {@link writeCsv}.
 * @param end position that a last line tells, by which readers know that the file is whole.
 */
export async function writeNdjson(
  table: LineTable,
  out: Writable,
  options: LineOptions & { end?: string | undefined },
): Promise<void> {
  const { end } = options;
  const last = end === undefined ? '' : `${JSON.stringify({ end: true, position: end })}\n`;
  await pump(chunks(table, options, '', last), out, options.signal);
}

async function* chunks(
  { name, lines }: LineTable,
  options: LineOptions,
  first: string,
  last = '',
): AsyncGenerator<string | Buffer> {
  if (first !== '') yield first;
  for await (const { bytes, rows } of lines()) {
    yield bytes;
    options.onRows?.(rows, name);
  }
  if (last !== '') yield last;
}
