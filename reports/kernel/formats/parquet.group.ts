import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type Read, readBytes, readTime, rowReader } from './binary-rows.ts';
import type { EncodedGroup } from './encoding.ts';
import type { Column } from './formats.types.ts';
import { parquetValue } from './parquet.columns.ts';

/** Columns by whose minimum and maximum readers skip row groups. */
const hasStatistics = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Columns whose values hardly repeat: they need no dictionary, and their bytes are written as they are. */
const isDistinct = ({ header }: Column): boolean =>
  /^(?:id|external_id|name|alias|description|source_id|target_id)$/.test(header);

type Typed = Uint8Array | number | null;

function readOf(column: Column): Read<Typed> | undefined {
  if (isDistinct(column)) return readBytes;
  return column.type === 'datetime' ? readTime : undefined;
}

/** Encodes rows in the binary format of COPY as a row group of a Parquet file. */
export function encodeRowGroup(
  { columns, rows, schema }: { columns: Column[]; rows: number; schema: SchemaElement[] },
  chunks: readonly Buffer[],
): EncodedGroup {
  const read = rowReader<Typed>(columns, readOf);
  const values = columns.map(() => new Array<unknown>(rows).fill(null));
  const convert = columns.map((column) =>
    readOf(column) ? (value: unknown) => value : (parquetValue(column.type) as (value: unknown) => unknown),
  );
  let row = 0;
  for (const chunk of chunks)
    for (const cells of read(chunk)) {
      for (let n = 0; n < cells.length; n += 1) {
        const cell = cells[n];
        if (cell !== null && cell !== undefined) values[n]![row] = convert[n]!(cell);
      }
      row += 1;
    }
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema });
  // remove the file header before the row group
  writer.offset = 0;
  writer.index = 0;
  parquet.write({
    columnData: columns.map((column, n) => ({
      name: column.header,
      data: values[n]!,
      statistics: hasStatistics(column),
      offsetIndex: false,
      ...(isDistinct(column) && { encoding: 'PLAIN' as const }),
    })),
    rowGroupSize: rows,
  });
  return { bytes: writer.getBytes() as EncodedGroup['bytes'], metadata: parquet.row_groups[0]! };
}
