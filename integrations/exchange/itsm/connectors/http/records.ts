import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import type { Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteField, RemoteRecord } from '../../remote.ts';

export type Row = Record<string, unknown>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The value of a column or at a path; undefined if there is none. Column names may contain dots. In a list of objects, the path
 * leads to the values of all of them, and a number to one of them.
 */
export function valueAt(row: unknown, path: string): unknown {
  if (row === null) return null;
  if (Array.isArray(row)) return valueInList(row, path);
  if (!isRow(row)) return undefined;
  if (Object.hasOwn(row, path)) return row[path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(row, name)) continue;
    const value = valueAt(row[name], path.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

function valueInList(list: readonly unknown[], path: string): unknown {
  const [, index, rest] = /^(\d+)(?:\.(.+))?$/.exec(path) ?? [];
  if (index !== undefined) {
    const item = list[Number(index)];
    return rest === undefined ? item : valueAt(item, rest);
  }
  const found = list
    .map((item) => valueAt(item, path))
    .filter((value) => value !== undefined && value !== null);
  return found.length === 0 && list.length > 0 ? undefined : found.flat();
}

/** A copy of an object with a value at a path. */
export function withValueAt(object: Row, path: string, value: unknown): Row {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = object[name];
  return { ...object, [name]: withValueAt(isRow(inner) ? inner : {}, rest.join('.'), value) };
}

/** A value in the form in which it is compared: lists of texts as one text. */
export function comparableValue(value: unknown): Value {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number'))
    return value.map((item) => String(item).replaceAll(';', '\\;')).join(';');
  return (value ?? null) as Value;
}

/** Characters that a key may have. */
const KEY_LENGTH = 500;

/** The key of a row as text; undefined if it has none, or a number that JSON readers round. */
export function keyOf(row: Row, column: string): string | undefined {
  const value = valueAt(row, column);
  const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  const text = isExact ? String(value) : typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > KEY_LENGTH ? undefined : text;
}

// in JSON: an escaped null character or an unpaired surrogate, which PostgreSQL cannot store
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Whether the database can store the texts of a row. */
export const isStorable = (row: Row): boolean => !unstorable.test(JSON.stringify(row));

const zoned = /(Z|[+-]\d{2}:?\d{2})$/i;

/** A time as RFC 3339: without a zone it is UTC; a number is seconds or milliseconds since 1970. */
function parseTime(value: unknown): string | undefined {
  if (typeof value === 'number') return inRange(value > 1e11 ? value : value * 1000);
  if (typeof value !== 'string') return undefined;
  const text = value.trim().replace(' ', 'T');
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  return inRange(Date.parse(zoned.test(text) || text.length === 10 ? text : `${text}Z`));
}

const inRange = (ms: number): string | undefined =>
  Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;

/** Keys are unique within a source only, so an id contains both: `servers:4711`. */
export const idOf = (source: string, key: string): string => `${source}:${key}`;

/** The key in an id of this source; undefined for other ids. */
export const keyIn = (source: string, id: string): string | undefined =>
  id.startsWith(`${source}:`) ? id.slice(source.length + 1) : undefined;

/** A value of a row; a key of another source becomes an id. */
function fieldOf(source: HttpSource, row: Row, path: string): RemoteField | undefined {
  const value = valueAt(row, path);
  if (value === undefined) return undefined;
  const target = source.references?.[path];
  if (target === undefined) return { value: comparableValue(value) };
  const key = keyOf(row, path);
  return { value: key === undefined ? null : idOf(target, key) };
}

/** @param fallback the time of change of a row that has none. */
export function recordOf(
  source: HttpSource,
  key: string,
  row: Row,
  fields: string[],
  fallback: string,
): RemoteRecord {
  const shown: Record<string, RemoteField> = {};
  for (const path of fields) {
    const field = fieldOf(source, row, path);
    if (field) shown[path] = field;
  }
  const updatedAt = source.updated === undefined ? undefined : parseTime(valueAt(row, source.updated));
  return { table: source.name, id: idOf(source.name, key), fields: shown, updatedAt: updatedAt ?? fallback };
}

/** A predicate for `column=value` joined by `&`; a repeated column may have any of the values. */
export function createRowFilter(filter: string | undefined): (row: Row) => boolean {
  const wanted = new URLSearchParams((filter ?? '').trim().replace(/^\?/, ''));
  const names = [...new Set(wanted.keys())];
  return (row) =>
    names.every((name) => wanted.getAll(name).includes(textOf(comparableValue(valueAt(row, name)))));
}

/** The columns that a filter names. */
export const columnsInFilter = (filter: string): string[] => [
  ...new Set(new URLSearchParams(filter.trim().replace(/^\?/, '')).keys()),
];

export const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
