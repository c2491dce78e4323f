import os from 'node:os';
import type { ParquetWriter } from 'hyparquet-writer';
import { threadPool } from '../../../platform/worker-threads.ts';
import type { BinaryTable, Column, WriteOptions } from './formats.types.ts';

/** A form of text with a line per row. */
export type LineForm = { form: 'ndjson' } | { form: 'csv'; neutralise: boolean };

/** What is made of rows: lines, or a row group of a Parquet file. */
type GroupForm = LineForm | { form: 'parquet' };

/** Rows in the binary format of COPY, and their form. */
export type RowGroup = GroupForm & {
  columns: Column[];
  chunks: Uint8Array<ArrayBuffer>[];
  rows: number;
};

/** The encoded rows. */
export interface EncodedGroup {
  bytes: Uint8Array<ArrayBuffer>;
  /** Of a Parquet row group, with offsets from the beginning of the bytes. */
  metadata?: InstanceType<typeof ParquetWriter>['row_groups'][number];
}

/** Half of the processors, since the database needs the others. */
const THREADS = Math.min(4, Math.ceil(os.availableParallelism() / 2));

const encodeInThread = threadPool<RowGroup, EncodedGroup>({
  module: new URL('./encoding.worker.ts', import.meta.url),
  size: THREADS,
  idleMs: 60_000,
  youngMb: 48,
});

/**
 * Encodes the rows of a table in worker threads, group by group, in the order of the rows.
 * @param size rows of a group; its rows and their encoded form are in memory at once, for each thread and the next group.
 */
export async function* encodedGroups(
  table: BinaryTable,
  form: GroupForm,
  size: number,
  { onRows }: WriteOptions,
): AsyncGenerator<EncodedGroup> {
  const encoding: Promise<EncodedGroup>[] = [];
  for await (const { chunks, rows } of groups(table, size)) {
    onRows?.(rows, table.name);
    const transfer = chunks.map(({ buffer }) => buffer);
    const encoded = encodeInThread({ question: { ...form, columns: table.columns, chunks, rows }, transfer });
    // awaited in order below
    encoded.catch(() => undefined);
    encoding.push(encoded);
    if (encoding.length > THREADS) yield await encoding.shift()!;
  }
  for (const encoded of encoding) yield await encoded;
}

async function* groups({ chunks }: BinaryTable, size: number) {
  let group: Pick<RowGroup, 'chunks' | 'rows'> = { chunks: [], rows: 0 };
  for await (const { bytes, rows } of chunks()) {
    // chunks do not share memory, so that they can be transferred to the thread
    group.chunks.push(bytes as Uint8Array as Uint8Array<ArrayBuffer>);
    group.rows += rows;
    if (group.rows < size) continue;
    yield group;
    group = { chunks: [], rows: 0 };
  }
  if (group.rows > 0) yield group;
}
