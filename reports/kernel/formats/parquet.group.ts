import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { cellReader, readBytes, readTime, rowScanner } from './binary-rows.ts';
import type { EncodedGroup, RowGroup } from './encoding.ts';
import type { Column } from './formats.types.ts';
import { parquetSchema, parquetValue } from './parquet.columns.ts';

/** Columns by whose minimum and maximum readers skip row groups. */
const hasStatistics = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Columns of texts that hardly repeat: they need no dictionary, and their bytes are written as they are. */
const isDistinct = ({ header }: Column): boolean =>
  /^(?:id|external_id|name|alias|description)$/.test(header);

/** Columns that become smaller by compression; others only take its time. */
const isCompressed = ({ header, type }: Column): boolean =>
  (type === 'text' || type === 'json' || type === 'multi') && header !== 'id';

/** Encodes rows in the binary format of COPY as a row group of a Parquet file. */
export function encodeRowGroup(
  { columns, rows }: Pick<RowGroup, 'columns' | 'rows'>,
  chunks: readonly Buffer[],
): EncodedGroup {
  const values = columns.map(() => new Array<unknown>(rows).fill(null));
  let row = 0;
  const convert = columns.map(({ type }) => parquetValue(type));
  const readCell = cellReader(columns);
  const plain = columns.map((column) =>
    isDistinct(column) ? readBytes : column.type === 'datetime' ? readTime : undefined,
  );
  const scan = rowScanner(
    columns,
    (at, chunk, from, to, isJson) => {
      const read = isJson ? undefined : plain[at];
      values[at]![row] = read ? read(chunk, from, to) : convert[at]!(readCell(at, chunk, from, to, isJson)!);
    },
    () => {
      row += 1;
    },
  );
  for (const chunk of chunks) scan(chunk);
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
      ...((isDistinct(column) || column.type === 'datetime') && { encoding: 'PLAIN' as const }),
      ...(!isCompressed(column) && { codec: 'UNCOMPRESSED' as const }),
    })),
    rowGroupSize: rows,
    // one page per column
    pageSize: 0,
  });
  return { bytes: writer.getBytes() as EncodedGroup['bytes'], metadata: parquet.row_groups[0]! };
}
