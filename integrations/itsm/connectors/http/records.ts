import type { HttpSource } from '../../../../domain/exchange/itsm/connections.input.ts';
import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteField, RemoteRecord } from '../../remote.ts';
import { keyOf, momentOf, plain, type Row, valueAt } from './values.ts';

/** The keys of each source are its own, so that an id names both: `servers:4711`. */
export const idOf = (source: string, key: string): string => `${source}:${key}`;

/** The key in an id of this source; undefined for what is none. */
export const keyIn = (source: string, id: string): string | undefined =>
  id.startsWith(`${source}:`) ? id.slice(source.length + 1) : undefined;

/** A value of a row, with keys of other sources as their ids. */
function fieldOf(source: HttpSource, row: Row, path: string): RemoteField | undefined {
  const value = valueAt(row, path);
  if (value === undefined) return undefined;
  const target = source.references?.[path];
  if (target === undefined) return { value: plain(value) };
  const key = keyOf(row, path);
  return { value: key === undefined ? null : idOf(target, key) };
}

/** @param fallback when the row itself does not tell when it was changed. */
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
  const told = source.updated === undefined ? undefined : momentOf(valueAt(row, source.updated));
  return { table: source.name, id: idOf(source.name, key), fields: shown, updatedAt: told ?? fallback };
}

/** A test for `column=value` joined by `&`; several values of a column are any of them. */
export function fits(filter: string | undefined): (row: Row) => boolean {
  const wanted = new URLSearchParams((filter ?? '').trim().replace(/^\?/, ''));
  const names = [...new Set(wanted.keys())];
  return (row) => names.every((name) => wanted.getAll(name).includes(textOf(plain(valueAt(row, name)))));
}

/** The columns that a filter names. */
export const namesIn = (filter: string): string[] => [
  ...new Set(new URLSearchParams(filter.trim().replace(/^\?/, '')).keys()),
];

const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
