import { isUtf8 } from 'node:buffer';
import { csvRecords } from '../../../../domain/exchange/imports/imports.csv-records.ts';
import { findTextError, utf8Chunks } from '../../../../domain/exchange/imports/imports.utf8.ts';
import type { HttpSource } from '../../../../domain/exchange/itsm/connections.input.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { RemoteError } from '../../remote.ts';
import { isRow, keyOf, type Row, valueAt } from './values.ts';

/** Rows with the key that each was found to have. */
export interface Parsed {
  rows: { key: string; row: Row }[];
  /** The names in the header of a file that has one. */
  header: readonly string[] | undefined;
  /** The whole of a JSON answer, for what it says beside its rows. */
  document: unknown;
}

/** Takes an answer apart. A row that cannot be read makes all of it unreadable: what is left out would look gone. */
export async function parseRows(source: HttpSource, body: Buffer, where: string): Promise<Parsed> {
  const bad = (what: string) => new RemoteError('bad_rows', where, `${source.name} ${what}`);
  let rows: { row: Row; place: string }[];
  let document: unknown;
  let header: readonly string[] | undefined;
  // a file of comma-separated values names the line
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
      const read = lines.map(({ text, place }) => ({ row: parsed(text), place }));
      const broken = read.find(({ row }) => !isRow(row));
      if (broken) throw bad(`has no JSON object in ${broken.place}`);
      if (read.length === 0) throw bad('is empty');
      rows = read as typeof rows;
      break;
    }
    case 'json': {
      document = parsed(body.toString('utf8'));
      if (document === undefined)
        throw new RemoteError('incomplete_answer', where, `Reading ${source.name} got JSON that breaks off`);
      const list = source.rows === undefined ? document : valueAt(document, source.rows);
      if (!Array.isArray(list)) throw bad(`has no list${source.rows ? ` at ${source.rows}` : ''}`);
      rows = list.map((row, at) => ({ row: row as Row, place: `row ${at + 1}` }));
      const broken = rows.find(({ row }) => !isRow(row));
      if (broken) throw bad(`has no object in ${broken.place}`);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The rows by the names of the header, or what is wrong with the file. */
async function parseCsv(
  { key, separator }: HttpSource,
  body: Buffer,
): Promise<{ rows: { row: Row; place: string }[]; header: readonly string[] } | string> {
  const rows: { row: Row; place: string }[] = [];
  let header: string[] | undefined;
  try {
    for await (const records of csvRecords(utf8Chunks(oneChunk(body)), separator)) {
      for (const { line, cells, fault } of records) {
        const place = `line ${line}`;
        if (fault) return `${fault.message} (${place})`;
        const strange = cells.map((cell) => findTextError('', cell)).find((found) => found !== undefined);
        if (strange) return `${strange.message} (${place})`;
        if (!header) {
          header = cells.map((cell) => cell.trim());
          const twice = header.find((name, at) => header!.indexOf(name) < at);
          if (twice !== undefined) return `has the column ${twice} twice`;
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
