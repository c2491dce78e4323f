import { ParquetWriter } from 'hyparquet-writer';
import { arrayColumns, rowShaper, type Source } from '../extraction.shape.ts';
import type { Cell, Column } from '../extraction.types.ts';
import { Bytes } from './parquet.bytes.ts';
import { type FlatColumn, isFlat, writeFlat } from './parquet.chunk.ts';
import { parquetSchema, parquetValues } from './parquet.columns.ts';

type Groups = InstanceType<typeof ParquetWriter>['row_groups'];

/** The bytes of a row group, and what the end of the file tells of it: offsets are from the beginning of the bytes. */
export interface RowGroup {
  bytes: Uint8Array<ArrayBuffer>;
  facts: Groups[number];
}

/** Whether readers may pass over row groups by the bounds of a column: for the others they take more time than they save. */
const ordered = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Where the value of each column stands in a line. */
function sources(columns: Column[]): (column: Column) => Source {
  const placed = new Map(arrayColumns(columns).map(({ header }, place) => [header, place]));
  return ({ header }) => {
    const place = placed.get(header);
    return place === undefined
      ? { place: placed.size, member: header.slice(header.indexOf('.') + 1) }
      : { place };
  };
}

/** Makes row groups of lines that are JSON arrays, as `jsonArrays` has them. */
export function rowGroups(columns: Column[]): (lines: readonly Uint8Array[], rows: number) => RowGroup {
  const schema = parquetSchema(columns);
  const values = columns.map(({ type }) => parquetValues(type));
  const shape = rowShaper(columns, sources(columns));
  const cells = new Array<Cell>(columns.length);
  return (lines, rows) => {
    const flat = columns.map((column) => flatColumn(column, rows));
    const nested = columns.map(({ type }) => (isFlat(type) ? [] : new Array<unknown>(rows).fill(null)));
    let at = 0;
    for (const bytes of lines) {
      // JSON holds no line feed, so that the lines are the items of one array
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength - 1).toString();
      for (const row of JSON.parse(`[${text.replaceAll('\n', ',')}]`) as unknown[][]) {
        shape(row, cells);
        for (let n = 0; n < cells.length; n += 1) {
          const cell = cells[n];
          if (cell === null || cell === undefined) continue;
          const value = values[n]!(cell);
          const column = flat[n];
          if (!column) nested[n]![at] = value;
          else if (value !== null) {
            column.present[at] = 1;
            column.values.push(value as string | number);
          }
        }
        at += 1;
      }
    }
    const written = new Bytes(1 << 20);
    const parquet = new ParquetWriter({ writer: written, schema });
    written.restart();
    const chunks = columns.map(({ header }, n) => {
      const column = flat[n];
      if (column) return writeFlat(written, column);
      const columnData = [{ name: header, data: nested[n]!, statistics: false, offsetIndex: false }];
      parquet.write({ columnData, rowGroupSize: rows });
      return parquet.row_groups.pop()!.columns[0]!;
    });
    const facts = {
      columns: chunks,
      total_byte_size: chunks.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n),
      total_compressed_size: BigInt(written.offset),
      num_rows: BigInt(rows),
    };
    return { bytes: written.getBytes() as RowGroup['bytes'], facts };
  };
}

/** An empty column for values of a type that is written here. */
function flatColumn(column: Column, rows: number): FlatColumn | undefined {
  const { header: name, type } = column;
  return isFlat(type)
    ? { name, type, present: new Uint8Array(rows), values: [], bounds: ordered(column) }
    : undefined;
}
