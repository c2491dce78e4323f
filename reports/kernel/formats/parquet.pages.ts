import { ByteWriter } from 'hyparquet-writer';
import type { EncodedGroup } from './encoding.ts';

type ColumnChunk = NonNullable<EncodedGroup['metadata']>['columns'][number];
type ColumnMetadata = NonNullable<ColumnChunk['meta_data']>;

/** The values of a column in a row group that are not null, in the order of the rows. */
export interface ColumnValues {
  count: number;
  /** The values in the PLAIN encoding. */
  plain(): Uint8Array;
  /** Distinct values, and the position in it of each value; null if it would not be smaller. */
  dictionary(): { count: number; plain: Uint8Array; indexes: readonly number[] } | null;
}

/** A column of a row group. */
export interface ColumnData {
  type: ColumnMetadata['type'];
  path: string[];
  values: ColumnValues;
  /** For each entry, whether there is a value: 1, or 2 in a list; lower for null and for an empty list. */
  definition: ArrayLike<number>;
  /** For each entry, whether it continues the list of the one before; null without lists. */
  repetition: readonly number[] | null;
  rows: number;
  compress: ((bytes: Uint8Array) => Uint8Array) | null;
  statistics: ColumnMetadata['statistics'];
}

/** Numbers of a width in bits, the lowest bits first. */
export function packBits(numbers: ArrayLike<number>, width: number): Uint8Array {
  const packed = new Uint8Array(Math.ceil(numbers.length / 8) * width);
  let pending = 0;
  let bits = 0;
  let at = 0;
  for (let n = 0; n < numbers.length; n += 1) {
    pending |= numbers[n]! << bits;
    for (bits += width; bits >= 8; bits -= 8) {
      packed[at] = pending & 0xff;
      at += 1;
      pending >>>= 8;
    }
  }
  if (bits > 0) packed[at] = pending;
  return packed;
}

/** Appends numbers in the hybrid encoding of the format: one run if all are equal, else bit-packed. */
function appendHybrid(writer: ByteWriter, numbers: ArrayLike<number>, width: number): void {
  const first = numbers[0] ?? 0;
  let isRun = true;
  for (let n = 1; isRun && n < numbers.length; n += 1) isRun = numbers[n] === first;
  if (isRun) {
    writer.appendVarInt(numbers.length << 1);
    for (let bits = 0; bits < width; bits += 8) writer.appendUint8((first >>> bits) & 0xff);
  } else {
    writer.appendVarInt((Math.ceil(numbers.length / 8) << 1) | 1);
    writer.appendBytes(packBits(numbers, width));
  }
}

/** Positions in the list of encodings and of page types of the format. */
const PLAIN = 0;
const RLE_DICTIONARY = 8;
const DICTIONARY_PAGE = 2;
const DATA_PAGE_V2 = 3;

/** Headers are structures in the compact protocol of Thrift: a byte for the distance to the last field and the type, then the value. */
const I32 = 0x15;
const DICTIONARY_HEADER = 0x4c;
const DATA_HEADER_V2 = 0x5c;
const FALSE = 0x12;
const TRUE = 0x11;
const STOP = 0x00;

function appendIntegers(writer: ByteWriter, ...integers: number[]): void {
  for (const integer of integers) {
    writer.appendUint8(I32);
    writer.appendZigZag(integer);
  }
}

/**
 * Appends a column as a dictionary page, if that is smaller, and one data page (version 2).
 * @returns its metadata, with offsets in the writer.
 * @see https://parquet.apache.org/docs/file-format/data-pages/
 */
export function appendColumn(writer: ByteWriter, column: ColumnData): ColumnChunk {
  const { values, compress, definition, repetition, rows } = column;
  const begin = writer.offset;
  const compressed = (bytes: Uint8Array) => (compress && bytes.length > 0 ? compress(bytes) : bytes);
  let saved = 0;
  const dictionary = values.dictionary();
  if (dictionary) {
    const page = compressed(dictionary.plain);
    saved += dictionary.plain.length - page.length;
    appendIntegers(writer, DICTIONARY_PAGE, dictionary.plain.length, page.length);
    writer.appendUint8(DICTIONARY_HEADER);
    appendIntegers(writer, dictionary.count, PLAIN);
    for (const end of [STOP, STOP]) writer.appendUint8(end);
    writer.appendBytes(page);
  }
  const dataOffset = writer.offset;
  const levels = new ByteWriter();
  if (repetition) appendHybrid(levels, repetition, 1);
  const repetitionBytes = levels.offset;
  appendHybrid(levels, definition, repetition ? 2 : 1);
  const plain = dictionary ? indexPage(dictionary) : values.plain();
  const page = dictionary ? plain : compressed(plain);
  saved += plain.length - page.length;
  appendIntegers(writer, DATA_PAGE_V2, levels.offset + plain.length, levels.offset + page.length);
  writer.appendUint8(DATA_HEADER_V2);
  appendIntegers(writer, definition.length, definition.length - values.count, rows);
  appendIntegers(
    writer,
    dictionary ? RLE_DICTIONARY : PLAIN,
    levels.offset - repetitionBytes,
    repetitionBytes,
  );
  for (const end of [page === plain ? FALSE : TRUE, STOP, STOP]) writer.appendUint8(end);
  writer.appendBytes(levels.getBytes());
  writer.appendBytes(page);
  return {
    file_offset: BigInt(begin),
    meta_data: {
      type: column.type,
      encodings: dictionary ? ['PLAIN', 'RLE', 'RLE_DICTIONARY'] : ['PLAIN', 'RLE'],
      path_in_schema: column.path,
      codec: compress ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(definition.length),
      total_compressed_size: BigInt(writer.offset - begin),
      total_uncompressed_size: BigInt(writer.offset - begin + saved),
      data_page_offset: BigInt(dataOffset),
      ...(dictionary && { dictionary_page_offset: BigInt(begin) }),
      ...(column.statistics && { statistics: column.statistics }),
    },
  };
}

/** The positions in a dictionary, after the width of one. */
function indexPage({ count, indexes }: { count: number; indexes: readonly number[] }): Uint8Array {
  const width = Math.max(1, 32 - Math.clz32(count - 1));
  const writer = new ByteWriter();
  writer.appendUint8(width);
  appendHybrid(writer, indexes, width);
  return writer.getBytes();
}
