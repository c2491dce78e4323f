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

type Read = (bytes: Buffer, from: number, to: number) => Cell;

const readText: Read = (bytes, from, to) => bytes.toString('utf8', from, to);
const readAscii: Read = (bytes, from, to) => bytes.toString('latin1', from, to);

/** The type in which the database sends the values of a column, and how a value is read. */
const types: Record<ColumnType, { sql: string; read: Read }> = {
  text: { sql: 'text', read: readText },
  key: { sql: 'text', read: readAscii },
  date: { sql: 'text', read: readAscii },
  json: { sql: 'text', read: readText },
  multi: { sql: 'text', read: (bytes, from, to) => JSON.parse(bytes.toString('utf8', from, to)) },
  number: { sql: 'float8', read: (bytes, from) => bytes.readDoubleBE(from) },
  boolean: { sql: 'boolean', read: (bytes, from) => bytes[from] === 1 },
  datetime: {
    sql: 'timestamptz',
    read: (bytes, from) => {
      const ms = readMs(bytes, from);
      return Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : null;
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

/** A function that reads the rows of a chunk of a {@link BinaryTable}. */
export function rowReader(columns: Column[]): (bytes: Buffer) => Cell[][] {
  const values = [...columns.entries()].filter(([, column]) => !isAttribute(column));
  const reads = values.map(([at, { type }]) => ({ at, read: types[type].read }));
  const attributes = new Map(
    [...columns.entries()]
      .filter(([, column]) => isAttribute(column))
      .map(([at, { header }]) => [header.slice(ATTRIBUTES.length), at]),
  );
  const empty = new Array<Cell>(columns.length).fill(null);
  return (bytes) => {
    const rows: Cell[][] = [];
    for (let next = 0; next < bytes.length; ) {
      const cells = empty.slice();
      // the number of values
      next += 2;
      for (const { at, read } of reads) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length < 0) continue;
        cells[at] = read(bytes, next, next + length);
        next += length;
      }
      if (attributes.size > 0) {
        const length = bytes.readInt32BE(next);
        next += 4;
        if (length >= 0) {
          const object: Record<string, Cell> = JSON.parse(bytes.toString('utf8', next, next + length));
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
