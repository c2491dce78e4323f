import type { Writable } from 'node:stream';
import { joinValues, neutralise, quoteCell } from '../../../domain/kernel/transfer/csv-cells.ts';
import { readTable } from './binary-rows.ts';
import { encodedGroups, type LineForm } from './encoding.ts';
import type { BinaryTable, Cell, Column, Table, WriteOptions } from './formats.types.ts';
import { pump } from './pump.ts';

/** The text of a cell in formats without lists. */
export function cellText(cell: NonNullable<Cell>): string {
  if (typeof cell === 'string') return cell;
  return Array.isArray(cell) ? joinValues(cell.map(String)) : String(cell);
}

function csvCell(cell: Cell, guard: boolean): string {
  if (cell === null || cell === undefined) return '';
  const text = cellText(cell);
  if (typeof cell === 'number' || typeof cell === 'boolean') return text;
  return quoteCell(guard ? neutralise(text) : text);
}

/** Makes lines of rows: CSV as {@link writeCsv} describes, or a JSON object per row as {@link writeNdjson}. */
export function linesOf(columns: Column[], form: LineForm): (rows: readonly (readonly Cell[])[]) => string {
  const line =
    form.form === 'csv'
      ? (cells: readonly Cell[]) => `${cells.map((cell) => csvCell(cell, form.neutralise)).join(',')}\r\n`
      : jsonLine(columns);
  return (rows) => rows.map(line).join('');
}

/**
 * Writes a table as CSV (RFC 4180, UTF-8, comma, CRLF) and ends the stream; destroys it on failure.
 * @param options.neutralise whether texts that a spreadsheet would evaluate as formulas are prefixed with an apostrophe; default true.
 * @throws the signal's reason when aborted.
 */
export async function writeCsv(
  table: Table | BinaryTable,
  out: Writable,
  options: WriteOptions & { neutralise?: boolean },
): Promise<void> {
  const { neutralise = true } = options;
  const header = `${table.columns.map(({ header }) => quoteCell(header)).join(',')}\r\n`;
  await pump(lines(table, { form: 'csv', neutralise }, options, header), out, options.signal);
}

/**
 * Writes a table as one JSON object per line, with `lifecycle` and `attributes` nested and without empty values. Otherwise as
 * {@link writeCsv}.
 * @param options.end position for a last line, by which readers know that the file is complete.
 */
export async function writeNdjson(
  table: Table | BinaryTable,
  out: Writable,
  options: WriteOptions & { end?: string | undefined },
): Promise<void> {
  const { end } = options;
  const last = end === undefined ? '' : `${JSON.stringify({ end: true, position: end })}\n`;
  await pump(lines(table, { form: 'ndjson' }, options, '', last), out, options.signal);
}

function jsonLine(columns: Column[]): (cells: readonly Cell[]) => string {
  const paths = columns.map(({ header }) => {
    const [, group, key] = /^(lifecycle|attributes)\.(.*)$/s.exec(header) ?? [];
    return { group, key: key ?? header };
  });
  const json = columns.findIndex(({ type }) => type === 'json');
  return (cells) => {
    const row: Record<string, unknown> = {};
    for (const [n, { group, key }] of paths.entries()) {
      const cell = cells[n];
      if (cell === null || cell === undefined || n === json) continue;
      if (group === undefined) row[key] = cell;
      else (row[group] as Record<string, Cell>) = Object.assign(row[group] ?? {}, { [key]: cell });
    }
    const line = JSON.stringify(row);
    // JSON text is written without parsing it
    if (json < 0 || !cells[json]) return `${line}\n`;
    const member = `${JSON.stringify(columns[json]!.header)}:${cells[json]}}`;
    return `${line.slice(0, -1)}${line === '{}' ? '' : ','}${member}\n`;
  };
}

/** Rows from which a thread is worth its start. */
const MANY = 2_000;
/** Rows of a group. */
const GROUP = 1_000;

async function* lines(
  table: Table | BinaryTable,
  form: LineForm,
  options: WriteOptions,
  first: string,
  last = '',
): AsyncGenerator<string | Uint8Array> {
  if (first !== '') yield first;
  if ('chunks' in table && table.expected >= MANY) {
    for await (const { bytes } of encodedGroups(table, form, GROUP, options)) yield bytes;
  } else {
    const { name, columns, batches } = 'chunks' in table ? readTable(table) : table;
    const text = linesOf(columns, form);
    for await (const rows of batches) {
      if (rows.length > 0) yield text(rows);
      options.onRows?.(rows.length, name);
    }
  }
  if (last !== '') yield last;
}
