import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import type { RemoteColumn } from '../connector.ts';
import { isRow, type Row } from './records.ts';

/** Maximum depth of nested objects whose members are columns. */
const DEPTH = 3;

/** Derives columns from rows, by name. */
export function columnsOf(source: HttpSource, rows: readonly Row[]): RemoteColumn[] {
  const kinds = new Map<string, RemoteColumn['kind'] | undefined>();
  const addKinds = (row: Row, prefix: string, depth: number): void => {
    for (const [name, value] of Object.entries(row)) {
      const path = `${prefix}${name}`;
      const items = Array.isArray(value) ? value.filter(isRow) : [];
      if (isRow(value) && depth < DEPTH) addKinds(value, `${path}.`, depth + 1);
      else if (items.length > 0 && depth < DEPTH) addItemKinds(items, `${path}.`);
      else kinds.set(path, commonKind(kinds.get(path), kindOf(value)));
    }
  };
  /** Values of the items of a list are one text. */
  const addItemKinds = (items: readonly Row[], prefix: string): void => {
    for (const name of new Set(items.flatMap((item) => Object.keys(item)))) {
      const inner = items.map((item) => item[name]).filter(isRow);
      if (inner.length === 0) kinds.set(`${prefix}${name}`, 'text');
      for (const item of inner)
        for (const member of Object.keys(item)) kinds.set(`${prefix}${name}.${member}`, 'text');
    }
  };
  for (const row of rows) addKinds(row, '', 1);
  for (const column of [source.key, source.updated]) {
    if (column !== undefined && !kinds.has(column)) kinds.set(column, undefined);
  }
  return [...kinds]
    .map(([name, kind]): RemoteColumn => {
      const reference = source.references?.[name] ?? null;
      return {
        name,
        label: name,
        kind: reference === null ? (name === source.updated ? 'datetime' : (kind ?? 'text')) : 'reference',
        remoteKind: kind ?? 'text',
        reference,
        maxLength: null,
        mandatory: name === source.key,
        choices: [],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(value: unknown): RemoteColumn['kind'] | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'decimal';
    case 'string':
      return 'text';
    default:
      return value === null || value === undefined ? undefined : Array.isArray(value) ? 'text' : 'other';
  }
}

function commonKind(
  one: RemoteColumn['kind'] | undefined,
  other: RemoteColumn['kind'] | undefined,
): RemoteColumn['kind'] | undefined {
  if (one === undefined || one === other) return other ?? one;
  if (other === undefined) return one;
  const isNumber = (kind: RemoteColumn['kind']) => kind === 'integer' || kind === 'decimal';
  return isNumber(one) && isNumber(other) ? 'decimal' : 'text';
}
