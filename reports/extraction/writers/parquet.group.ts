import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { rowShaper } from '../extraction.shape.ts';
import type { Cell, Column } from '../extraction.types.ts';
import { parquetSchema, parquetValues } from './parquet.columns.ts';

type Groups = InstanceType<typeof ParquetWriter>['row_groups'];

/** The bytes of a row group, and what the end of the file tells of it: offsets are from the beginning of the bytes. */
export interface RowGroup {
  bytes: Uint8Array<ArrayBuffer>;
  facts: Groups[number];
}

/** Members of a line that hold the members which columns name after a dot. */
const NESTED = ['lifecycle', 'attributes'];

/** Whether readers may pass over row groups by the bounds of a column: for the others they take more time than they save. */
const ordered = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Where a column's value stands in a line: in the object itself, or in one that it holds. */
function sourceOf({ header }: Column): { place: number; member: string } {
  const dot = header.indexOf('.');
  const nested = NESTED.indexOf(header.slice(0, dot));
  return nested < 0 ? { place: 0, member: header } : { place: 1 + nested, member: header.slice(dot + 1) };
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

/** Makes row groups of lines of JSON. */
export function rowGroups(columns: Column[]): (lines: readonly Uint8Array[], rows: number) => RowGroup {
  const schema = parquetSchema(columns);
  const values = columns.map(({ type }) => parquetValues(type));
  const shape = rowShaper(columns, sourceOf);
  const row: unknown[] = [];
  const cells = new Array<Cell>(columns.length);
  return (lines, rows) => {
    const data = columns.map(() => new Array<unknown>(rows).fill(null));
    let at = 0;
    for (const bytes of lines) {
      // lines of JSON hold no line feed, so that these are the items of one array
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength - 1).toString();
      for (const object of JSON.parse(`[${text.replaceAll('\n', ',')}]`) as Record<string, unknown>[]) {
        row[0] = object;
        for (let n = 0; n < NESTED.length; n += 1) row[n + 1] = object[NESTED[n]!];
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
