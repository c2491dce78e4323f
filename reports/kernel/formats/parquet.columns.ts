import type { SchemaElement } from 'hyparquet';
import { cellText } from './cells.ts';
import type { Cell, Column, ColumnType } from './formats.types.ts';

type Leaf = Omit<SchemaElement, 'name'>;

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

const DAY_MS = 86_400_000;

/**
 * Converts a cell; a value that does not match the column's type, as after a change of type, becomes null. A time is in
 * milliseconds since 1970 already.
 */
export function parquetValue(type: ColumnType): (cell: NonNullable<Cell>) => unknown {
  switch (type) {
    case 'number':
      return (cell) => (typeof cell === 'number' && Number.isFinite(cell) ? cell : null);
    case 'boolean':
      return (cell) => (typeof cell === 'boolean' ? cell : null);
    case 'multi':
      return (cell) => (Array.isArray(cell) ? cell.map(String) : [cellText(cell)]);
    case 'date':
      return (cell) => {
        const ms = Date.parse(cellText(cell));
        return Number.isNaN(ms) ? null : Math.floor(ms / DAY_MS);
      };
    case 'datetime':
      return (cell) => cell;
    default:
      return cellText;
  }
}
