import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { cellReader, rowScanner } from './binary-rows.ts';
import type { EncodedGroup, RowGroup } from './encoding.ts';
import type { Column } from './formats.types.ts';
import { parquetReader, parquetSchema, physicalType } from './parquet.columns.ts';
import { appendColumn } from './parquet.pages.ts';
import { NumberValues, TextValues } from './parquet.values.ts';

/** Columns by whose minimum and maximum readers skip row groups. */
const hasStatistics = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** Columns of texts that hardly repeat: they need no dictionary. */
const isDistinct = ({ header }: Column): boolean =>
  /^(?:id|external_id|name|alias|description)$/.test(header);

/** Columns that become smaller by compression; others only take its time. */
const isCompressed = ({ header, type }: Column): boolean =>
  (type === 'text' || type === 'json' || type === 'multi') && header !== 'id';

/** The values of a column of a row group, as rows are added. */
function columnOf(column: Column, at: number, rows: number, readCell: ReturnType<typeof cellReader>) {
  const type = physicalType(column.type);
  const values = type === 'BYTE_ARRAY' ? new TextValues(!isDistinct(column)) : new NumberValues(type);
  const lists = column.type === 'multi' ? new Array<string[] | null>(rows).fill(null) : null;
  return {
    column,
    type,
    values,
    lists,
    present: new Uint8Array(rows),
    read: parquetReader(column.type, at, readCell),
  };
}

/** The levels of a column of lists, whose elements are added to its values. */
function listLevels(lists: readonly (string[] | null)[], values: TextValues) {
  const definition: number[] = [];
  const repetition: number[] = [];
  for (const list of lists) {
    for (const [n, text] of (list ?? []).entries()) {
      values.add(text);
      definition.push(2);
      repetition.push(n === 0 ? 0 : 1);
    }
    if (list?.length) continue;
    definition.push(list ? 1 : 0);
    repetition.push(0);
  }
  return { definition, repetition };
}

/** Encodes rows in the binary format of COPY as a row group of a Parquet file. */
export function encodeRowGroup(
  { columns, rows }: Pick<RowGroup, 'columns' | 'rows'>,
  chunks: readonly Buffer[],
): EncodedGroup {
  const readCell = cellReader(columns);
  const group = columns.map((column, at) => columnOf(column, at, rows, readCell));
  let row = 0;
  const scan = rowScanner(
    columns,
    (at, chunk, from, to, isJson) => {
      const column = group[at]!;
      const value = column.read(chunk, from, to, isJson);
      if (value === null) return;
      if (column.lists) column.lists[row] = value as string[];
      else {
        column.values.add(value as never);
        column.present[row] = 1;
      }
    },
    () => {
      row += 1;
    },
  );
  for (const chunk of chunks) scan(chunk);
  const writer = new ByteWriter(64 * rows);
  const { SNAPPY } = new ParquetWriter({ writer: new ByteWriter(), schema: parquetSchema(columns) })
    .compressors;
  const encoded = group.map(({ column, type, values, lists, present }) => {
    const levels = lists
      ? listLevels(lists, values as TextValues)
      : { definition: present, repetition: null };
    const [min_value, max_value] = hasStatistics(column) && values.count > 0 ? values.bounds() : [];
    return appendColumn(writer, {
      type,
      path: lists ? [column.header, 'list', 'element'] : [column.header],
      values,
      ...levels,
      rows,
      compress: isCompressed(column) ? SNAPPY : null,
      statistics:
        min_value === undefined
          ? undefined
          : { min_value, max_value: max_value!, null_count: BigInt(rows - values.count) },
    });
  });
  const size = encoded.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n);
  const metadata = { columns: encoded, total_byte_size: size, num_rows: BigInt(rows) };
  return { bytes: writer.getBytes() as EncodedGroup['bytes'], metadata };
}
