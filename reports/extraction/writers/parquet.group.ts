import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { arrayColumns, rowShaper, type Source } from '../extraction.shape.ts';
import type { Cell, Column } from '../extraction.types.ts';
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

/** What the library has written. */
class Written extends ByteWriter {
  constructor() {
    super(1 << 20);
  }

  restart(): void {
    this.index = 0;
    this.offset = 0;
  }
}

/** Makes row groups of lines that are JSON arrays, as `jsonArrays` has them. */
export function rowGroups(columns: Column[]): (lines: readonly Uint8Array[], rows: number) => RowGroup {
  const schema = parquetSchema(columns);
  const values = columns.map(({ type }) => parquetValues(type));
  const shape = rowShaper(columns, sources(columns));
  const cells = new Array<Cell>(columns.length);
  return (lines, rows) => {
    const data = columns.map(() => new Array<unknown>(rows).fill(null));
    let at = 0;
    for (const bytes of lines) {
      // JSON holds no line feed, so that the lines are the items of one array
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength - 1).toString();
      for (const row of JSON.parse(`[${text.replaceAll('\n', ',')}]`) as unknown[][]) {
        shape(row, cells);
        for (let n = 0; n < cells.length; n += 1) {
          const cell = cells[n];
          if (cell !== null && cell !== undefined) data[n]![at] = values[n]!(cell);
        }
        at += 1;
      }
    }
    const written = new Written();
    const parquet = new ParquetWriter({ writer: written, schema });
    written.restart();
    const columnData = columns.map((column, n) => ({
      name: column.header,
      data: data[n]!,
      statistics: ordered(column),
      offsetIndex: false,
    }));
    parquet.write({ columnData, rowGroupSize: rows });
    return { bytes: written.getBytes() as RowGroup['bytes'], facts: parquet.row_groups[0]! };
  };
}
