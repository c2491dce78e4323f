import type { Writable } from 'node:stream';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Column, OnRows, Table } from '../extraction.types.ts';
import { parquetSchema, parquetValues } from './parquet.columns.ts';
import { pump } from './pump.ts';

interface ParquetOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/** Rows of a row group: all of them are in memory at once. */
const GROUP = 10_000;

/** Whether readers may pass over row groups by the bounds of a column: for the others they take more time than they save. */
const ordered = ({ header, type }: Column): boolean =>
  header === 'id' || type === 'datetime' || type === 'date';

/** What the library has written since it was last taken. */
class Written extends ByteWriter {
  take(): Buffer {
    const bytes = Buffer.from(this.buffer, 0, this.index);
    this.buffer = new ArrayBuffer(Math.max(this.index, 1024));
    this.view = new DataView(this.buffer);
    this.index = 0;
    return bytes;
  }
}

/**
 * Writes a table as Parquet, with the types of its columns, a row group at a time. Ends the stream; destroys it on
 * failure. @throws the signal's reason when aborted.
 */
export async function writeParquet(table: Table, out: Writable, options: ParquetOptions): Promise<void> {
  await pump(parquetChunks(table, options), out, options.signal);
}

async function* parquetChunks(
  { name, columns, batches }: Table,
  options: ParquetOptions,
): AsyncGenerator<Buffer> {
  const written = new Written();
  const parquet = new ParquetWriter({ writer: written, schema: parquetSchema(columns), createdBy: 'estate' });
  const values = columns.map(({ type }) => parquetValues(type));
  const empty = () => columns.map(() => new Array<unknown>(GROUP).fill(null));
  let data = empty();
  let rows = 0;
  const group = (): Buffer => {
    const columnData = columns.map((column, n) => {
      const all = data[n]!;
      return {
        name: column.header,
        data: rows === GROUP ? all : all.slice(0, rows),
        statistics: ordered(column),
      };
    });
    parquet.write({ columnData, rowGroupSize: GROUP });
    data = empty();
    rows = 0;
    return written.take();
  };
  for await (const batch of batches) {
    for (const cells of batch) {
      for (let n = 0; n < cells.length; n += 1) {
        const cell = cells[n];
        if (cell !== null && cell !== undefined) data[n]![rows] = values[n]!(cell);
      }
      rows += 1;
      if (rows === GROUP) yield group();
    }
    options.onRows?.(batch.length, name);
  }
  if (rows > 0) yield group();
  parquet.finish();
  yield written.take();
}
