import type { ColumnChunk } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { packBits, writeLevels } from './parquet.bits.ts';
import { Bytes } from './parquet.bytes.ts';
import { dictionaryOf } from './parquet.dictionary.ts';
import type { FlatColumn } from './parquet.flat.ts';

const physical = {
  text: 'BYTE_ARRAY',
  key: 'BYTE_ARRAY',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'INT32',
  datetime: 'INT64',
} as const;

const indexes = new Bytes();
const levels = new Bytes();

/**
 * Writes a column of a row group as one page, after a dictionary where values repeat. It makes no object for a value,
 * which is what the library does, and compresses only what becomes smaller by it: texts.
 * @returns what the end of the file tells of it.
 */
export function writeFlat(writer: ByteWriter, column: FlatColumn): ColumnChunk {
  const { name, type, present, count } = column;
  const start = writer.offset;
  const compresses = type === 'text';
  const packed = (bytes: Uint8Array): Uint8Array => (compresses ? snappyCompress(bytes) : bytes);
  const values = column.bytes.subarray(0, column.used);
  const dictionary = type === 'boolean' ? undefined : dictionaryOf(column);
  let whole = 0;
  let page: Uint8Array = type === 'boolean' ? packBits(values) : values;
  if (dictionary) {
    const bytes = packed(dictionary.values);
    const head = writer.offset;
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: dictionary.values.length,
      compressed_page_size: bytes.length,
      dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
    });
    whole += writer.offset - head + dictionary.values.length;
    writer.appendBytes(bytes);
    const width = Math.ceil(Math.log2(dictionary.count));
    indexes.restart();
    indexes.appendUint8(width);
    writeRleBitPackedHybrid(indexes, dictionary.indexes, width);
    page = indexes.getBytes();
  }
  const encoding = dictionary ? 'RLE_DICTIONARY' : 'PLAIN';
  levels.restart();
  writeLevels(levels, present, count);
  // which value of a dictionary each one is, is packed already
  const bytes = dictionary ? page : packed(page);
  const data = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.index + page.length,
    compressed_page_size: levels.index + bytes.length,
    data_page_header_v2: {
      num_values: present.length,
      num_nulls: present.length - count,
      num_rows: present.length,
      encoding,
      definition_levels_byte_length: levels.index,
      repetition_levels_byte_length: 0,
      is_compressed: compresses && !dictionary,
    },
  });
  whole += writer.offset - data + levels.index + page.length;
  writer.appendBytes(levels.getBytes());
  writer.appendBytes(bytes);
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: physical[type],
      encodings: dictionary ? ['PLAIN', encoding] : [encoding],
      path_in_schema: [name],
      codec: compresses ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(present.length),
      total_uncompressed_size: BigInt(whole),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(data),
      ...(dictionary ? { dictionary_page_offset: BigInt(start) } : {}),
      ...(column.bounded
        ? {
            statistics: {
              null_count: BigInt(present.length - count),
              ...column.bounds(),
            },
          }
        : {}),
    },
  };
}
