import type { SchemaElement } from 'hyparquet';
import { type Chunk, type cellReader, readTime } from './binary-rows.ts';
import { cellText } from './cells.ts';
import type { Column, ColumnType } from './formats.types.ts';
import type { PhysicalType } from './parquet.values.ts';

const QUOTE = 0x22;

/** Reads the value at a position of a chunk. */
type ReadValue = (
  chunk: Chunk,
  from: number,
  to: number,
  isJson: boolean,
) => string | number | string[] | null;

type Leaf = Omit<SchemaElement, 'name' | 'type'> & { type: PhysicalType | 'BYTE_ARRAY' };

const text: Leaf = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type: 'OPTIONAL',
};

const leaves: Record<Exclude<ColumnType, 'multi'>, Leaf> = {
  text,
  key: text,
  json: text,
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  boolean: { type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
  date: {
    type: 'INT32',
    converted_type: 'DATE',
    logical_type: { type: 'DATE' },
    repetition_type: 'OPTIONAL',
  },
  datetime: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    repetition_type: 'OPTIONAL',
  },
};

/** The schema of a file with these columns; a list of texts has the form that the format specifies. */
export function parquetSchema(columns: Column[]): SchemaElement[] {
  const elements = columns.flatMap(({ header: name, type }): SchemaElement[] =>
    type === 'multi'
      ? [
          {
            name,
            repetition_type: 'OPTIONAL',
            num_children: 1,
            converted_type: 'LIST',
            logical_type: { type: 'LIST' },
          },
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
          { name: 'element', ...text, repetition_type: 'REQUIRED' },
        ]
      : [{ name, ...leaves[type] }],
  );
  return [{ name: 'root', num_children: columns.length }, ...elements];
}

/** How the values of a column are stored. */
export const physicalType = (type: ColumnType) => (type === 'multi' ? text : leaves[type]).type;

const DAY_MS = 86_400_000;

/** The days from 1970 to a date; null if the text is no date. */
export function parquetDay(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : Math.floor(ms / DAY_MS);
}

/** A text as a string of one character per byte of UTF-8. */
const byteString = (text: string): string => Buffer.from(text).toString('latin1');

/**
 * A function that reads a value of a column in its physical form: a text or list as byte strings, a time in milliseconds since 1970.
 * A value that does not match the column's type, as after a change of type, becomes null.
 */
export function parquetReader(
  type: ColumnType,
  at: number,
  readCell: ReturnType<typeof cellReader>,
): ReadValue {
  if (type === 'datetime') return readTime;
  const read: ReadValue = (chunk, from, to, isJson) => {
    if (type === 'number' && isJson) {
      const number = Number(chunk.characters.slice(from, to));
      return Number.isFinite(number) ? number : null;
    }
    const cell = readCell(at, chunk, from, to, isJson)!;
    switch (type) {
      case 'number':
        return typeof cell === 'number' && Number.isFinite(cell) ? cell : null;
      case 'boolean':
        return typeof cell === 'boolean' ? Number(cell) : null;
      case 'multi':
        return (Array.isArray(cell) ? cell.map(String) : [cellText(cell)]).map(byteString);
      case 'date':
        return parquetDay(cellText(cell));
      default:
        return byteString(cellText(cell));
    }
  };
  if (leaves[type as 'text'] !== text) return read;
  return (chunk, from, to, isJson) => {
    const { characters } = chunk;
    if (!isJson) return characters.slice(from, to);
    const string = characters.slice(from + 1, to - 1);
    return chunk.bytes[from] === QUOTE && !string.includes('\\') ? string : read(chunk, from, to, isJson);
  };
}
