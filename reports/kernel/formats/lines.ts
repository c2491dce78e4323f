import type { Writable } from 'node:stream';
import { quoteCell } from '../../../domain/kernel/transfer/csv-cells.ts';
import { csvCell } from './cells.ts';
import { writeChunks } from './chunk-streams.ts';
import { csvEncoder } from './csv.encoder.ts';
import { encodedGroups, type LineForm } from './encoding.ts';
import type { BinaryTable, Column, Table, WriteOptions } from './formats.types.ts';
import { jsonLinesEncoder } from './json-lines.encoder.ts';
import type { LineEncoder } from './line-writer.ts';

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF) and ends the stream; destroys it on failure.
 * @param options.neutralise whether texts that a spreadsheet would evaluate as formulas are prefixed with an apostrophe; default true.
 * @param options.bom whether a byte order mark is the first character, by which Excel recognises UTF-8; default false.
 * @throws the signal's reason when aborted.
 */
export async function writeCsv(
  table: Table | BinaryTable,
  out: Writable,
  options: WriteOptions & { neutralise?: boolean; bom?: boolean | undefined },
): Promise<void> {
  const { neutralise = true, bom = false } = options;
  async function* chunks() {
    yield `${bom ? '\uFEFF' : ''}${table.columns.map(({ header }) => quoteCell(header)).join(',')}\r\n`;
    if ('chunks' in table) yield* binaryLines(table, { form: 'csv', neutralise }, options);
    else {
      for await (const rows of table.batches) {
        yield rows.map((row) => `${row.map((cell) => csvCell(cell, neutralise)).join(',')}\r\n`).join('');
        options.onRows?.(rows.length, table.name);
      }
    }
  }
  await writeChunks(chunks(), out, options.signal);
}

/**
 * Writes a table as one JSON object per line, with `lifecycle` and `attributes` nested and without empty values. Otherwise as
 * {@link writeCsv}.
 * @param options.end position for a last line, by which readers know that the file is complete.
 */
export async function writeNdjson(
  table: BinaryTable,
  out: Writable,
  options: WriteOptions & { end?: string | undefined },
): Promise<void> {
  const { end } = options;
  async function* chunks() {
    yield* binaryLines(table, { form: 'ndjson' }, options);
    if (end !== undefined) yield `${JSON.stringify({ end: true, position: end })}\n`;
  }
  await writeChunks(chunks(), out, options.signal);
}

/** Rows from which a thread is worth its start. */
const MANY = 2_000;
/** Rows of a group. */
const GROUP = 1_000;

/** A function that makes lines of rows in the binary format of COPY. */
export function encoderOf(columns: Column[], form: LineForm): LineEncoder {
  return form.form === 'csv' ? csvEncoder(columns, form.neutralise) : jsonLinesEncoder(columns);
}

async function* binaryLines(table: BinaryTable, form: LineForm, options: WriteOptions) {
  if (table.expected >= MANY) {
    for await (const { bytes } of encodedGroups(table, form, GROUP, options)) yield bytes;
    return;
  }
  const lines = encoderOf(table.columns, form);
  for await (const { bytes, rows } of table.chunks()) {
    yield lines([bytes]);
    options.onRows?.(rows, table.name);
  }
}
