import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { readBytes, readTime, rowReader } from './binary-rows.ts';
import type { EncodedGroup, RowGroup } from './encoding.ts';
import type { Column } from './formats.types.ts';
import { parquetSchema, parquetValue } from './parquet.columns.ts';

/** Columns by whose minimum and maximum readers skip row groups. */
const hasStatistics = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Columns whose values hardly repeat: they need no dictionary, and their bytes are written as they are. */
const isDistinct = ({ header }: Column): boolean =>
  /^(?:id|external_id|name|alias|description)$/.test(header);

/** Encodes rows in the binary format of COPY as a row group of a Parquet file. */
export function encodeRowGroup(
  { columns, rows }: Pick<RowGroup, 'columns' | 'rows'>,
  chunks: readonly Buffer[],
): EncodedGroup {
  const read = rowReader<Uint8Array | number | null>(columns, (column) => {
    if (isDistinct(column)) return readBytes;
    return column.type === 'datetime' ? readTime : undefined;
  });
  const values = columns.map(() => new Array<unknown>(rows).fill(null));
  const convert = columns.map(({ type }) => parquetValue(type));
  let row = 0;
  for (const chunk of chunks)
    for (const cells of read(chunk)) {
      for (let n = 0; n < cells.length; n += 1) {
        const cell = cells[n];
        if (cell === null || cell === undefined) continue;
        values[n]![row] = cell instanceof Uint8Array ? cell : convert[n]!(cell);
      }
      row += 1;
    }
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: parquetSchema(columns) });
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
