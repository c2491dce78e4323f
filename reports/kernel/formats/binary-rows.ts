import type { BinaryTable, Cell, Column, ColumnType, Table } from './formats.types.ts';
import { eachMember, jsonCell } from './json-members.ts';

const ATTRIBUTES = 'attributes.';
/** PostgreSQL counts microseconds from this time. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const LAST_MS = 8.64e15;

/** Milliseconds since 1970 of a timestamp; beyond every date for `infinity`. */
function readMs(bytes: Buffer, from: number): number {
  const micros = bytes.readInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4);
  return Math.floor(micros / 1000) + EPOCH_MS;
}

/** The text of a UUID. */
export function readUuid(bytes: Buffer, from: number): string {
  const hex = bytes.toString('hex', from, from + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A chunk of rows, also as a string of one character per byte: its slices cost less than decoding each value. */
export interface Chunk {
  bytes: Buffer;
  characters: string;
}

/** Reads the value at a position of a chunk. */
export type Read<T = Cell> = (chunk: Chunk, from: number, to: number) => T;

/** Reads a text. */
export function readText({ bytes, characters }: Chunk, from: number, to: number): string {
  for (let at = from; at < to; at += 1) if (bytes[at]! > 127) return bytes.toString('utf8', from, to);
  return characters.slice(from, to);
}
const readAscii: Read = ({ characters }, from, to) => characters.slice(from, to);

/** Reads a timestamp in milliseconds since 1970; null beyond every date. */
export const readTime: Read<number | null> = ({ bytes }, from) => {
  const ms = readMs(bytes, from);
  return Math.abs(ms) <= LAST_MS ? ms : null;
};

const DAY_MS = 86_400_000;

/** Reads a timestamp in ISO 8601. A day is formatted once for consecutive timestamps of the same day, as rows often have. */
export function readIsoTime(): Read<string | null> {
  let day = Number.NaN;
  let date = '';
  const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
  return (chunk, from, to) => {
    const ms = readTime(chunk, from, to);
    if (ms === null) return null;
    const inDay = ms - Math.floor(ms / DAY_MS) * DAY_MS;
    if (ms - inDay !== day) {
      day = ms - inDay;
      date = new Date(day).toISOString().slice(0, -'00:00:00.000Z'.length);
    }
    const seconds = Math.floor(inDay / 1000);
    const minutes = Math.floor(seconds / 60);
    const fraction = String(1000 + (inDay % 1000)).slice(1);
    return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}.${fraction}Z`;
  };
}

/** The type in which the database sends the values of a column, and how a value is read. */
const types: Record<ColumnType, { sql: string; read: Read }> = {
  text: { sql: 'text', read: readText },
  key: { sql: 'text', read: readAscii },
  date: { sql: 'text', read: readAscii },
  json: { sql: 'text', read: readText },
  multi: { sql: 'text', read: (chunk, from, to) => JSON.parse(readText(chunk, from, to)) },
  number: { sql: 'float8', read: ({ bytes }, from) => bytes.readDoubleBE(from) },
  boolean: { sql: 'boolean', read: ({ bytes }, from) => bytes[from] === 1 },
  datetime: { sql: 'timestamptz', read: readIsoTime() },
};

const isAttribute = ({ header }: Column): boolean => header.startsWith(ATTRIBUTES);

/**
 * The select list of a {@link BinaryTable}: the values of all columns but attributes, then all attributes as one JSON object.
 * @param sqlOf SQL of a column's value; a list is the text of a JSON array. @param attributes SQL of the object.
 */
export function selectList(columns: Column[], sqlOf: (header: string) => string, attributes: string): string {
  const values = columns.filter((column) => !isAttribute(column));
  return [
    ...values.map(({ header, type }) => `(${sqlOf(header)})::${types[type].sql}`),
    ...(values.length < columns.length ? [`(${attributes})::text`] : []),
  ].join(', ');
}

/** A value of a row within a chunk: in the format of its column's type, or as JSON for an attribute. */
type OnValue = (at: number, chunk: Chunk, from: number, to: number, isJson: boolean) => void;

/**
 * A function that reads the rows of a chunk of a {@link BinaryTable}: it calls `onValue` with the position of its column for each
 * value that is not null, attributes last and in any order, and `onRow` after each row.
 */
export function rowScanner(columns: Column[], onValue: OnValue, onRow: () => void): (bytes: Buffer) => void {
  const own = [...columns.keys()].filter((at) => !isAttribute(columns[at]!));
  const attributes = new Map<string, number>();
  for (const [at, column] of columns.entries())
    if (isAttribute(column)) attributes.set(column.header.slice(ATTRIBUTES.length), at);
  return (bytes) => {
    const chunk = { bytes, characters: bytes.toString('latin1') };
    const onMember = (key: string, from: number, to: number) => {
      const at = attributes.get(key);
      if (at !== undefined) onValue(at, chunk, from, to, true);
    };
    for (let next = 0; next < bytes.length; ) {
      // the number of values
      next += 2;
      for (const at of own) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length < 0) continue;
        onValue(at, chunk, next, next + length, false);
        next += length;
      }
      if (attributes.size > 0) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length >= 0) {
          eachMember(chunk.characters, next, next + length, onMember);
          next += length;
        }
      }
      onRow();
    }
  };
}

/** A function that reads a value of a row as the cell of its column. */
export function cellReader(columns: Column[]) {
  const reads = columns.map(({ type }) => types[type].read);
  return (at: number, chunk: Chunk, from: number, to: number, isJson: boolean): Cell =>
    isJson ? jsonCell(readText(chunk, from, to)) : reads[at]!(chunk, from, to);
}

/** The same table with its rows as cells. */
export function readTable({ name, columns, chunks, form }: BinaryTable): Table {
  const empty = new Array<Cell>(columns.length).fill(null);
  const readCell = cellReader(columns);
  async function* batches() {
    let rows: Cell[][] = [];
    let cells = empty.slice();
    const scan = rowScanner(
      columns,
      (at, chunk, from, to, isJson) => {
        cells[at] = readCell(at, chunk, from, to, isJson);
      },
      () => {
        rows.push(cells);
        cells = empty.slice();
      },
    );
    for await (const { bytes } of chunks()) {
      scan(bytes);
      yield rows;
      rows = [];
    }
  }
  return { name, columns, form, batches: batches() };
}
