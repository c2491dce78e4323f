import { ParquetWriter } from 'hyparquet-writer';
import { arrayColumns, memberCell } from '../../exchange/extraction/extraction.shape.ts';
import { msAt } from './binary.ts';
import type { Column } from './formats.types.ts';
import { Bytes } from './parquet.bytes.ts';
import { writeFlat } from './parquet.chunk.ts';
import { parquetSchema, parquetValues } from './parquet.columns.ts';
import { FlatColumn, isFlat } from './parquet.flat.ts';

type Groups = InstanceType<typeof ParquetWriter>['row_groups'];

/** The bytes of a row group, and what the end of the file tells of it: offsets are from the beginning of the bytes. */
export interface RowGroup {
  bytes: Uint8Array<ArrayBuffer>;
  facts: Groups[number];
}

/** Whether readers may pass over row groups by the bounds of a column: for the others they take more time than they save. */
const ordered = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** A column of a row group that is being gathered. */
interface Gathered {
  column: Column;
  /** What is written here. */
  flat: FlatColumn | undefined;
  /** Values by row of what the library writes. */
  nested: unknown[];
  /** Adds the value of a row, as the database sends it. */
  read(row: number, bytes: Buffer, from: number, to: number): void;
  /** Adds the value of a row, as it stands in JSON. */
  take(row: number, value: unknown): void;
}

/** Times beyond are none of the calendar: `infinity`. */
const LAST_MS = 8.64e15;

function gathered(column: Column): Gathered {
  const { header, type } = column;
  const toValue = parquetValues(type);
  const nested: unknown[] = [];
  if (!isFlat(type)) {
    const take = (row: number, cell: unknown): void => {
      const value = memberCell(cell, type);
      if (value !== null && value !== undefined) nested[row] = toValue(value);
    };
    return {
      column,
      flat: undefined,
      nested,
      take,
      read: (row, bytes, from, to) => take(row, JSON.parse(bytes.toString('utf8', from, to))),
    };
  }
  const flat = new FlatColumn(header, type, ordered(column));
  const take = (row: number, cell: unknown): void => {
    const known = memberCell(cell, type);
    if (known === null || known === undefined) return;
    const value = toValue(known);
    if (value !== null)
      flat.add(row, typeof value === 'boolean' ? Number(value) : (value as string | number));
  };
  const reads: Record<typeof type, Gathered['read']> = {
    text: (row, bytes, from, to) => flat.addBytes(row, bytes, from, to),
    key: (row, bytes, from, to) => flat.addBytes(row, bytes, from, to),
    boolean: (row, bytes, from) => flat.add(row, bytes[from]!),
    number: (row, bytes, from) => take(row, bytes.readDoubleBE(from)),
    date: (row, bytes, from, to) => take(row, bytes.toString('latin1', from, to)),
    datetime: (row, bytes, from) => {
      const ms = msAt(bytes, from);
      if (Math.abs(ms) <= LAST_MS) flat.add(row, ms);
    },
  };
  return { column, flat, nested, take, read: reads[type] };
}

/** Makes row groups of rows as `binaryRows` has them. The memory of one is used again for the next. */
export function rowGroups(columns: Column[]): (chunks: readonly Uint8Array[], rows: number) => RowGroup {
  const schema = parquetSchema(columns);
  const all = columns.map(gathered);
  const placed = new Set(arrayColumns(columns));
  const fixed = all.filter(({ column }) => placed.has(column));
  const members = new Map(
    all
      .filter(({ column }) => !placed.has(column))
      .map((each) => [each.column.header.slice(each.column.header.indexOf('.') + 1), each]),
  );

  /** Reads a row, and tells where it ends. */
  const readRow = (row: number, bytes: Buffer, start: number): number => {
    // how many values there are is known
    let at = start + 2;
    for (const { read } of fixed) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (length < 0) continue;
      read(row, bytes, at, at + length);
      at += length;
    }
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) return at;
    const attributes = JSON.parse(bytes.toString('utf8', at, at + length)) as Record<string, unknown>;
    for (const key in attributes) members.get(key)?.take(row, attributes[key]);
    return at + length;
  };

  return (chunks, rows) => {
    for (const { flat, nested } of all) {
      if (flat) {
        flat.restart(rows);
      } else {
        nested.length = rows;
        nested.fill(null);
      }
    }
    let row = 0;
    for (const chunk of chunks) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = 0; at < bytes.length; row += 1) at = readRow(row, bytes, at);
    }
    const written = new Bytes(1 << 20);
    const parquet = new ParquetWriter({ writer: written, schema });
    written.restart();
    const parts = all.map(({ column, flat, nested }) => {
      if (flat) return writeFlat(written, flat);
      const columnData = [{ name: column.header, data: nested, statistics: false, offsetIndex: false }];
      parquet.write({ columnData, rowGroupSize: rows });
      return parquet.row_groups.pop()!.columns[0]!;
    });
    const facts = {
      columns: parts,
      total_byte_size: parts.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n),
      total_compressed_size: BigInt(written.offset),
      num_rows: BigInt(rows),
    };
    return { bytes: written.getBytes() as RowGroup['bytes'], facts };
  };
}
