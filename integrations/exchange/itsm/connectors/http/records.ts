import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
import type { Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteField, RemoteRecord } from '../../remote.ts';
import { comparableValue, keyOf, parseTime, type Row, valueAt } from './values.ts';

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

const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
