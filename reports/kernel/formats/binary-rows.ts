import type { BinaryTable, Cell, Column, ColumnType, Table } from './formats.types.ts';

const ATTRIBUTES = 'attributes.';
/** PostgreSQL counts microseconds from this time. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const LAST_MS = 8.64e15;

/** Milliseconds since 1970 of a timestamp; beyond every date for `infinity`. */
export function readMs(bytes: Buffer, from: number): number {
  const micros = bytes.readInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4);
  return Math.floor(micros / 1000) + EPOCH_MS;
}

/** The text of a UUID. */
export function readUuid(bytes: Buffer, from: number): string {
  const hex = bytes.toString('hex', from, from + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A chunk of rows, also as a string of one character per byte: its slices cost less than decoding each value. */
interface Chunk {
  bytes: Buffer;
  characters: string;
}

/** Reads the value at a position of a chunk. */
export type Read<T = Cell> = (chunk: Chunk, from: number, to: number) => T;

function readText({ bytes, characters }: Chunk, from: number, to: number): string {
  for (let at = from; at < to; at += 1) if (bytes[at]! > 127) return bytes.toString('utf8', from, to);
  return characters.slice(from, to);
}
const readAscii: Read = ({ characters }, from, to) => characters.slice(from, to);

/** Reads a text as its bytes in UTF-8. */
export const readBytes: Read<Uint8Array> = ({ bytes }, from, to) => bytes.subarray(from, to);

/** Reads a timestamp in milliseconds since 1970; null beyond every date. */
export const readTime: Read<number | null> = ({ bytes }, from) => {
  const ms = readMs(bytes, from);
  return Math.abs(ms) <= LAST_MS ? ms : null;
};

/** The type in which the database sends the values of a column, and how a value is read. */
const types: Record<ColumnType, { sql: string; read: Read }> = {
  text: { sql: 'text', read: readText },
  key: { sql: 'text', read: readAscii },
  date: { sql: 'text', read: readAscii },
  json: { sql: 'text', read: readText },
  multi: { sql: 'text', read: (chunk, from, to) => JSON.parse(readText(chunk, from, to)) },
  number: { sql: 'float8', read: ({ bytes }, from) => bytes.readDoubleBE(from) },
  boolean: { sql: 'boolean', read: ({ bytes }, from) => bytes[from] === 1 },
  datetime: {
    sql: 'timestamptz',
    read: (chunk, from, to) => {
      const ms = readTime(chunk, from, to);
      return ms === null ? null : new Date(ms).toISOString();
    },
  },
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

/**
 * A function that reads the rows of a chunk of a {@link BinaryTable}.
 * @param readOf how the values of a column are read that is no attribute; by default as its type's cells.
 */
export function rowReader<T = never>(
  columns: Column[],
  readOf: (column: Column) => Read<T> | undefined = () => undefined,
): (bytes: Buffer) => (Cell | T)[][] {
  const reads: { at: number; read: Read<Cell | T> }[] = [...columns.entries()]
    .filter(([, column]) => !isAttribute(column))
    .map(([at, column]) => ({ at, read: readOf(column) ?? types[column.type].read }));
  const attributes = new Map(
    [...columns.entries()]
      .filter(([, column]) => isAttribute(column))
      .map(([at, { header }]) => [header.slice(ATTRIBUTES.length), at]),
  );
  const empty = new Array<Cell | T>(columns.length).fill(null);
  return (bytes) => {
    const chunk = { bytes, characters: bytes.toString('latin1') };
    const rows: (Cell | T)[][] = [];
    for (let next = 0; next < bytes.length; ) {
      const cells = empty.slice();
      // the number of values
      next += 2;
      for (const { at, read } of reads) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length < 0) continue;
        cells[at] = read(chunk, next, next + length);
        next += length;
      }
      if (attributes.size > 0) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length >= 0) {
          const object: Record<string, Cell> = JSON.parse(readText(chunk, next, next + length));
          for (const key in object) {
            const at = attributes.get(key);
            if (at !== undefined) cells[at] = object[key];
          }
          next += length;
        }
      }
      rows.push(cells);
    }
    return rows;
  };
}

/** The same table with its rows as cells. */
export function readTable({ name, columns, chunks }: BinaryTable): Table {
  const read = rowReader(columns);
  async function* batches() {
    for await (const { bytes } of chunks()) yield read(bytes);
  }
  return { name, columns, batches: batches() };
}
