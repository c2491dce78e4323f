import type { SchemaElement } from 'hyparquet';
import { joinValues } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { Cell, Column, ColumnType } from './formats.types.ts';

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
/** From the first of March of the year 0. */
const DAYS_TO_1970 = 719_468;

/** The number that digits of a text are; NaN when they are none. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let n = from; n < to; n += 1) {
    const digit = text.charCodeAt(n) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

/** Days since 1970 of a text such as `2026-01-31`; a tenth of the time that Date takes. */
function dayOf(text: string): number | null {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const known =
    text.length === 10 && text[4] === '-' && text[7] === '-' && month >= 1 && month <= 12 && day >= 1;
  if (!known || day > 28 || Number.isNaN(year)) {
    const ms = time(text);
    return ms === null ? null : Math.floor(ms / DAY_MS);
  }
  // years begin in March here, so that the day that some of them have more is their last
  const since = month > 2 ? year : year - 1;
  const before = Math.floor(((month + 9) % 12) * 30.6 + 0.5) + day - 1;
  return (
    since * 365 +
    Math.floor(since / 4) -
    Math.floor(since / 100) +
    Math.floor(since / 400) +
    before -
    DAYS_TO_1970
  );
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
    case 'date':
      return (cell) => dayOf(textOf(cell));
    case 'datetime':
      return (cell) => time(textOf(cell));
    default:
      return textOf;
  }
}
