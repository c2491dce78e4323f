import type { ColumnChunk } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import type { ColumnType } from '../extraction.types.ts';
import { Bytes } from './parquet.bytes.ts';

/** Types of columns that hold one value a row, which this writes; the library writes the others. */
export type FlatType = 'text' | 'key' | 'number' | 'date' | 'datetime';
type Value = string | number;

/** Whether the values of a type are written by {@link writeFlat}. */
export const isFlat = (type: ColumnType): type is FlatType => type in physical;

/** A column of a row group: which rows have a value (1), and those values in order; times and days as numbers. */
export interface FlatColumn {
  name: string;
  type: FlatType;
  present: Uint8Array;
  values: Value[];
  /** Whether readers are told the least and the greatest value. */
  bounds: boolean;
}

const physical = {
  text: 'BYTE_ARRAY',
  key: 'BYTE_ARRAY',
  number: 'DOUBLE',
  date: 'INT32',
  datetime: 'INT64',
} as const;

/** Values that are looked at to tell whether they repeat. */
const SAMPLE = 256;
/** A dictionary is worth its place when a value stands so many times on average. */
const REPEATS = 4;

const page = new Bytes();
const levels = new Bytes();

interface Dictionary {
  values: Value[];
  indexes: Uint32Array;
}

function dictionaryOf(values: readonly Value[]): Dictionary | undefined {
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  const sample = new Set<Value>();
  let looked = 0;
  for (let n = 0; n < values.length; n += step) {
    sample.add(values[n]!);
    looked += 1;
  }
  if (looked < REPEATS || sample.size * 2 > looked) return undefined;
  const places = new Map<Value, number>();
  const indexes = new Uint32Array(values.length);
  const most = values.length / REPEATS;
  for (let n = 0; n < values.length; n += 1) {
    const value = values[n]!;
    let place = places.get(value);
    if (place === undefined) {
      place = places.size;
      if (place >= most) return undefined;
      places.set(value, place);
    }
    indexes[n] = place;
  }
  return { values: [...places.keys()], indexes };
}

function putPlain(type: FlatType, values: readonly Value[]): void {
  switch (type) {
    case 'number':
      for (const value of values) page.appendFloat64(value as number);
      return;
    case 'date':
      for (const value of values) page.appendInt32(value as number);
      return;
    case 'datetime':
      for (const value of values) page.appendInt64(BigInt(value));
      return;
    default:
      for (const value of values) page.appendText(value as string);
  }
}

function boundsOf(type: FlatType, values: readonly Value[]) {
  let [least] = values;
  let greatest = least;
  for (const value of values) {
    if (value < least!) least = value;
    if (value > greatest!) greatest = value;
  }
  const told = (value: Value | undefined) =>
    value !== undefined && type === 'datetime' ? BigInt(value) : value;
  return { min_value: told(least), max_value: told(greatest) };
}

/**
 * Writes a column of a row group as one page, after a dictionary where values repeat. It makes no object for a value,
 * which is what the library does, and compresses only what becomes smaller by it: texts.
 * @returns what the end of the file tells of it.
 */
export function writeFlat(
  writer: ByteWriter,
  { name, type, present, values, bounds }: FlatColumn,
): ColumnChunk {
  const start = writer.offset;
  const compresses = type === 'text';
  const packed = (bytes: Uint8Array): Uint8Array => (compresses ? snappyCompress(bytes) : bytes);
  const dictionary = dictionaryOf(values);
  let whole = 0;
  page.restart();
  if (dictionary) {
    putPlain(type, dictionary.values);
    const bytes = packed(page.getBytes());
    const head = writer.offset;
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: page.index,
      compressed_page_size: bytes.length,
      dictionary_page_header: { num_values: dictionary.values.length, encoding: 'PLAIN' },
    });
    whole += writer.offset - head + page.index;
    writer.appendBytes(bytes);
    page.restart();
    const width = Math.ceil(Math.log2(dictionary.values.length));
    page.appendUint8(width);
    writeRleBitPackedHybrid(page, dictionary.indexes, width);
  } else {
    putPlain(type, values);
  }
  const encoding = dictionary ? 'RLE_DICTIONARY' : 'PLAIN';
  levels.restart();
  writeRleBitPackedHybrid(levels, present, 1);
  const bytes = packed(page.getBytes());
  const data = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.index + page.index,
    compressed_page_size: levels.index + bytes.length,
    data_page_header_v2: {
      num_values: present.length,
      num_nulls: present.length - values.length,
      num_rows: present.length,
      encoding,
      definition_levels_byte_length: levels.index,
      repetition_levels_byte_length: 0,
      is_compressed: compresses,
    },
  });
  whole += writer.offset - data + levels.index + page.index;
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
      ...(bounds
        ? {
            statistics: {
              null_count: BigInt(present.length - values.length),
              ...boundsOf(type, values),
            },
          }
        : {}),
    },
  };
}
