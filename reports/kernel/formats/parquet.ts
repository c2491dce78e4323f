import type { Writable } from 'node:stream';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { writeChunks } from './chunk-streams.ts';
import { type EncodedGroup, encodedGroups } from './encoding.ts';
import type { BinaryTable, WriteOptions } from './formats.types.ts';
import { parquetSchema } from './parquet.columns.ts';

type RowGroupMetadata = NonNullable<EncodedGroup['metadata']>;

/** Rows of a row group. */
const GROUP = 5_000;

/**
 * Writes a table as Parquet with the types of its columns and ends the stream; destroys it on failure. Worker threads encode the row
 * groups.
 * @throws the signal's reason when aborted.
 */
export async function writeParquet(table: BinaryTable, out: Writable, options: WriteOptions): Promise<void> {
  await writeChunks(parquetChunks(table, options), out, options.signal);
}

async function* parquetChunks(table: BinaryTable, options: WriteOptions): AsyncGenerator<Uint8Array> {
  const written = new ByteWriter();
  const schema = parquetSchema(table.columns);
  const file = new ParquetWriter({ writer: written, schema, createdBy: 'estate' });
  yield Buffer.from(written.getBytes());
  for await (const { bytes, metadata } of encodedGroups(table, { form: 'parquet' }, GROUP, options)) {
    file.row_groups.push(shifted(metadata!, BigInt(written.offset)));
    file.num_rows += metadata!.num_rows;
    written.offset += bytes.length;
    yield bytes;
  }
  written.index = 0;
  file.finish();
  yield written.getBytes();
}

/** The metadata of a row group whose bytes begin at an offset of the file. */
function shifted(metadata: RowGroupMetadata, offset: bigint): RowGroupMetadata {
  for (const chunk of metadata.columns) {
    const data = chunk.meta_data!;
    chunk.file_offset += offset;
    data.data_page_offset += offset;
    if (data.dictionary_page_offset !== undefined) data.dictionary_page_offset += offset;
  }
  return metadata;
}
