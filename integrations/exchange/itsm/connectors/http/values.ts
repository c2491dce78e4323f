import type { Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';

export type Row = Record<string, unknown>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a column or at a path; undefined if there is none. A column name may contain a dot. */
export function valueAt(row: unknown, path: string): unknown {
  if (!isRow(row)) return undefined;
  if (Object.hasOwn(row, path)) return row[path];
  let value: unknown = row;
  for (const part of path.split('.')) {
    if (value === null) return null;
    if (!isRow(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** A value in the form in which it is compared: lists of texts as one text. */
export function comparableValue(value: unknown): Value {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number'))
    return value.map((item) => String(item).replaceAll(';', '\\;')).join(';');
  return (value ?? null) as Value;
}

/** The key of a row as text; undefined if it has none. */
export function keyOf(row: Row, column: string): string | undefined {
  const value = valueAt(row, column);
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

const zoned = /(Z|[+-]\d{2}:?\d{2})$/i;

/** A time as RFC 3339: without a zone it is UTC; a number is seconds or milliseconds since 1970. */
export function parseTime(value: unknown): string | undefined {
  if (typeof value === 'number') return inRange(value > 1e11 ? value : value * 1000);
  if (typeof value !== 'string') return undefined;
  const text = value.trim().replace(' ', 'T');
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  return inRange(Date.parse(zoned.test(text) || text.length === 10 ? text : `${text}Z`));
}

const inRange = (ms: number): string | undefined =>
  Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
