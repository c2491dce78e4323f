import { isUtf8 } from 'node:buffer';
import { csvRecords } from '../../../../../domain/exchange/imports/imports.csv-records.ts';
import { findTextError, utf8Chunks } from '../../../../../domain/exchange/imports/imports.utf8.ts';
import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { EstateError } from '../../../../../platform/errors.ts';
import { RemoteError } from '../../remote.ts';
import { isRow, keyOf, type Row, valueAt } from './values.ts';

/** Rows with their keys. */
export interface Parsed {
  rows: { key: string; row: Row }[];
  /** The column names of a file with a header. */
  header: readonly string[] | undefined;
  /** The whole JSON document, for its members besides the rows. */
  document: unknown;
}

/** Parses a response. One invalid row makes the whole response invalid, since an omitted row would count as gone. */
export async function parseRows(source: HttpSource, body: Buffer, where: string): Promise<Parsed> {
  const bad = (what: string) => new RemoteError('bad_rows', where, `${source.name} ${what}`);
  let rows: { row: Row; place: string }[];
  let document: unknown;
  let header: readonly string[] | undefined;
  // the CSV parser reports the line
  if (source.format !== 'csv' && !isUtf8(body)) throw bad('is not UTF-8 text');
  switch (source.format) {
    case 'csv': {
      const read = await parseCsv(source, body);
      if (typeof read === 'string') throw bad(read);
      ({ rows, header } = read);
      break;
    }
    case 'ndjson': {
      const lines = body
        .toString('utf8')
        .split('\n')
        .map((text, at) => ({ text: text.trim(), place: `line ${at + 1}` }))
        .filter(({ text }) => text !== '');
      const read = lines.map(({ text, place }) => ({ row: parseJson(text), place }));
      const invalid = read.find(({ row }) => !isRow(row));
      if (invalid) throw bad(`has no JSON object in ${invalid.place}`);
      if (read.length === 0) throw bad('is empty');
      rows = read as typeof rows;
      break;
    }
    case 'json': {
      document = parseJson(body.toString('utf8'));
      if (document === undefined)
        throw new RemoteError('incomplete_answer', where, `Reading ${source.name} returned truncated JSON`);
      const list = source.rows === undefined ? document : valueAt(document, source.rows);
      if (!Array.isArray(list)) throw bad(`has no list${source.rows ? ` at ${source.rows}` : ''}`);
      rows = list.map((row, at) => ({ row: row as Row, place: `row ${at + 1}` }));
      const invalid = rows.find(({ row }) => !isRow(row));
      if (invalid) throw bad(`has no object in ${invalid.place}`);
    }
  }
  const keyed: Parsed['rows'] = [];
  for (const { row, place } of rows) {
    const key = keyOf(row, source.key);
    if (key === undefined) throw bad(`has no key (${source.key}) in ${place}`);
    keyed.push({ key, row });
  }
  return { rows: keyed, header, document };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The rows as objects by the names of the header, or why the file is invalid. */
async function parseCsv(
  { key, separator }: HttpSource,
  body: Buffer,
): Promise<{ rows: { row: Row; place: string }[]; header: readonly string[] } | string> {
  const rows: { row: Row; place: string }[] = [];
  let header: string[] | undefined;
  try {
    for await (const records of csvRecords(utf8Chunks(oneChunk(body)), separator)) {
      for (const { line, cells, error } of records) {
        const place = `line ${line}`;
        if (error) return `${error.message} (${place})`;
        const invalid = cells.map((cell) => findTextError('', cell)).find((found) => found !== undefined);
        if (invalid) return `${invalid.message} (${place})`;
        if (!header) {
          header = cells.map((cell) => cell.trim());
          const duplicate = header.find((name, at) => header!.indexOf(name) < at);
          if (duplicate !== undefined) return `has the column ${duplicate} twice`;
          if (!header.includes(key)) return `has no column ${key}`;
          continue;
        }
        if (cells.length !== header.length)
          return `has ${cells.length} cells in ${place}, and ${header.length} columns`;
        rows.push({ row: Object.fromEntries(header.map((name, at) => [name, cells[at]])), place });
      }
    }
  } catch (error) {
    if (error instanceof EstateError) return 'is not UTF-8 text';
    throw error;
  }
  return header ? { rows, header } : 'is empty';
}

async function* oneChunk(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}
