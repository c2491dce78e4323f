import type { SchemaElement } from 'hyparquet';
import { joinValues } from '../../../domain/transfer/csv-cells.ts';
import type { Cell, Column, ColumnType } from '../extraction.types.ts';

type Leaf = Omit<SchemaElement, 'name'>;

const textLeaf: Leaf = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type: 'OPTIONAL',
};

const leaves: Record<Exclude<ColumnType, 'multi'>, Leaf> = {
  text: textLeaf,
  key: textLeaf,
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

/** The schema of a file with these columns; several values are a list of texts in the form that the format names. */
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
          { name: 'element', ...textLeaf, repetition_type: 'REQUIRED' },
        ]
      : [{ name, ...leaves[type] }],
  );
  return [{ name: 'root', num_children: columns.length }, ...elements];
}

const DAY_MS = 86_400_000;

/** Turns texts into values, each text once, as long as there are not too many of them. */
function kept<T>(read: (text: string) => T): (text: string) => T {
  const values = new Map<string, T>();
  return (text) => {
    let value = values.get(text);
    if (value === undefined) {
      value = read(text);
      if (values.size < 100_000) values.set(text, value);
    }
    return value;
  };
}

const textOf = (cell: NonNullable<Cell>): string =>
  typeof cell === 'string' ? cell : Array.isArray(cell) ? joinValues(cell) : String(cell);

function time(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** What a cell becomes in a file; a value that is none of its column's type (as after a change of type) becomes null. */
export function parquetValues(type: ColumnType): (cell: NonNullable<Cell>) => unknown {
  switch (type) {
    case 'number':
      return (cell) => (typeof cell === 'number' && Number.isFinite(cell) ? cell : null);
    case 'boolean':
      return (cell) => (typeof cell === 'boolean' ? cell : null);
    case 'multi':
      return (cell) => (Array.isArray(cell) ? [...cell] : [textOf(cell)]);
    case 'date': {
      const day = kept((text) => {
        const ms = time(text);
        return ms === null ? null : Math.floor(ms / DAY_MS);
      });
      return (cell) => day(textOf(cell));
    }
    case 'datetime':
      return (cell) => time(textOf(cell));
    default:
      return textOf;
  }
}
