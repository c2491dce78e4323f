import os from 'node:os';
import type { Writable } from 'node:stream';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { threadPool } from '../../../platform/worker-threads.ts';
import type { BinaryTable, WriteOptions } from './formats.types.ts';
import { parquetSchema } from './parquet.columns.ts';
import type { GroupRows, RowGroup } from './parquet.worker.ts';
import { pump } from './pump.ts';

/** Rows of a row group, all of which are in memory at once. */
const GROUP = 5_000;
/** Threads that encode row groups: half of the processors, since the database needs the others. */
const THREADS = Math.min(4, Math.ceil(os.availableParallelism() / 2));

const encodeInThread = threadPool<GroupRows, RowGroup>({
  module: new URL('./parquet.worker.ts', import.meta.url),
  size: THREADS,
  idleMs: 60_000,
});

/**
 * Writes a table as Parquet with the types of its columns and ends the stream; destroys it on failure. Worker threads encode the row
 * groups.
 * @throws the signal's reason when aborted.
 */
export async function writeParquet(table: BinaryTable, out: Writable, options: WriteOptions): Promise<void> {
  await pump(parquetChunks(table, options), out, options.signal);
}

async function* rowGroups(
  { name, columns, chunks }: BinaryTable,
  { onRows }: WriteOptions,
): AsyncGenerator<GroupRows> {
  let group: GroupRows = { columns, chunks: [], rows: 0 };
  for await (const { bytes, rows } of chunks()) {
    // chunks do not share memory, so that they can be transferred to the thread
    group.chunks.push(bytes as Uint8Array as Uint8Array<ArrayBuffer>);
    group.rows += rows;
    onRows?.(rows, name);
    if (group.rows < GROUP) continue;
    yield group;
    group = { columns, chunks: [], rows: 0 };
  }
  if (group.rows > 0) yield group;
}

async function* parquetChunks(table: BinaryTable, options: WriteOptions): AsyncGenerator<Uint8Array> {
  const written = new ByteWriter();
  const file = new ParquetWriter({
    writer: written,
    schema: parquetSchema(table.columns),
    createdBy: 'estate',
  });
  yield Buffer.from(written.getBytes());
  const encoding: Promise<RowGroup>[] = [];
  const next = async (): Promise<Uint8Array> => {
    const { bytes, metadata } = await encoding.shift()!;
    file.row_groups.push(shifted(metadata, BigInt(written.offset)));
    file.num_rows += metadata.num_rows;
    written.offset += bytes.length;
    return bytes;
  };
  for await (const group of rowGroups(table, options)) {
    const encoded = encodeInThread({ question: group, transfer: group.chunks.map(({ buffer }) => buffer) });
    // awaited in order, by `next`
    encoded.catch(() => undefined);
    encoding.push(encoded);
    if (encoding.length > THREADS) yield await next();
  }
  while (encoding.length > 0) yield await next();
  written.index = 0;
  file.finish();
  yield written.getBytes();
}

/** The metadata of a row group whose bytes begin at an offset of the file. */
function shifted(metadata: RowGroup['metadata'], offset: bigint): RowGroup['metadata'] {
  for (const chunk of metadata.columns) {
    const data = chunk.meta_data!;
    chunk.file_offset += offset;
    data.data_page_offset += offset;
    if (data.dictionary_page_offset !== undefined) data.dictionary_page_offset += offset;
  }
  return metadata;
}
