import { parentPort } from 'node:worker_threads';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Answered } from '../../../platform/worker-threads.ts';
import { rowReader } from './binary-rows.ts';
import type { Cell, Column } from './formats.types.ts';
import { parquetSchema, parquetValue } from './parquet.columns.ts';

/** Rows in the binary format of COPY that become one row group. */
export interface GroupRows {
  columns: Column[];
  chunks: Uint8Array<ArrayBuffer>[];
  rows: number;
}

/** The bytes of a row group and its metadata, with offsets from the beginning of the bytes. */
export interface RowGroup {
  bytes: Uint8Array<ArrayBuffer>;
  metadata: InstanceType<typeof ParquetWriter>['row_groups'][number];
}

/** Columns by whose minimum and maximum readers skip row groups. */
const hasStatistics = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

function encodeGroup({ columns, chunks, rows }: GroupRows): RowGroup {
  const read = rowReader(columns);
  const values = columns.map(() => new Array<unknown>(rows).fill(null));
  const convert = columns.map(({ type }) => parquetValue(type));
  const take = (row: number, cells: readonly Cell[]) => {
    for (let n = 0; n < cells.length; n += 1) {
      const cell = cells[n];
      if (cell !== null && cell !== undefined) values[n]![row] = convert[n]!(cell);
    }
  };
  let row = 0;
  for (const chunk of chunks) {
    for (const cells of read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
      take(row, cells);
      row += 1;
    }
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
    })),
    rowGroupSize: rows,
  });
  return { bytes: writer.getBytes() as RowGroup['bytes'], metadata: parquet.row_groups[0]! };
}

parentPort!.on('message', (group: GroupRows) => {
  try {
    const answer = encodeGroup(group);
    parentPort!.postMessage({ answer } satisfies Answered<RowGroup>, [answer.bytes.buffer]);
  } catch (error) {
    parentPort!.postMessage({ error: String(error) } satisfies Answered<RowGroup>);
  }
});
