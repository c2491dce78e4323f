import type { Writable } from 'node:stream';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { LineTable } from '../../exchange/extraction/extraction.rows.ts';
import type { OnRows } from './formats.types.ts';
import { parquetSchema } from './parquet.columns.ts';
import type { RowGroup } from './parquet.group.ts';
import { encodeGroup, type GroupLines, THREADS } from './parquet.threads.ts';
import { pump } from './pump.ts';

interface ParquetOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/** Rows of a row group: all of them are in memory at once. */
const GROUP = 5_000;

/** What the library has written since it was last taken. */
class Written extends ByteWriter {
  take(): Buffer {
    const bytes = Buffer.from(this.buffer, 0, this.index);
    this.buffer = new ArrayBuffer(1024);
    this.view = new DataView(this.buffer);
    this.index = 0;
    return bytes;
  }
}

/**
 * Writes a table, whose rows are as the database has them, as Parquet with the types of its columns. Row groups are made by threads, so
 * that nothing else waits for them. Ends the stream; destroys it on failure.
 * @throws the signal's reason when aborted.
 */
export async function writeParquet(table: LineTable, out: Writable, options: ParquetOptions): Promise<void> {
  await pump(parquetChunks(table, options), out, options.signal);
}

/** Takes chunks of whole rows until they are a row group. */
async function* gather({ name, lines }: LineTable, { onRows }: ParquetOptions): AsyncGenerator<GroupLines> {
  let group: GroupLines = { lines: [], rows: 0 };
  for await (const { bytes, rows } of lines()) {
    group.lines.push(bytes as Uint8Array as Uint8Array<ArrayBuffer>);
    group.rows += rows;
    onRows?.(rows, name);
    if (group.rows < GROUP) continue;
    yield group;
    group = { lines: [], rows: 0 };
  }
  if (group.rows > 0) yield group;
}

async function* parquetChunks(table: LineTable, options: ParquetOptions): AsyncGenerator<Uint8Array> {
  const written = new Written();
  const parquet = new ParquetWriter({
    writer: written,
    schema: parquetSchema(table.columns),
    createdBy: 'estate',
  });
  yield written.take();
  const making: Promise<RowGroup>[] = [];
  const next = async (): Promise<Uint8Array> => {
    const { bytes, facts } = await making.shift()!;
    parquet.row_groups.push(placed(facts, BigInt(written.offset)));
    parquet.num_rows += facts.num_rows;
    written.offset += bytes.length;
    return bytes;
  };
  for await (const group of gather(table, options)) {
    const made = encodeGroup(table.columns, group);
    // a failure is met in its turn
    made.catch(() => undefined);
    making.push(made);
    if (making.length > THREADS) yield await next();
  }
  while (making.length > 0) yield await next();
  parquet.finish();
  yield written.take();
}

/** What is told of a row group whose bytes stand at an offset of the file. */
function placed(facts: RowGroup['facts'], offset: bigint): RowGroup['facts'] {
  for (const chunk of facts.columns) {
    const data = chunk.meta_data!;
    chunk.file_offset += offset;
    data.data_page_offset += offset;
    if (data.dictionary_page_offset !== undefined) data.dictionary_page_offset += offset;
  }
  return facts;
}
