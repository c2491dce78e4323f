import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
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
      if (isRow(value) && depth < DEPTH) addKinds(value, `${path}.`, depth + 1);
      else kinds.set(path, commonKind(kinds.get(path), kindOf(value)));
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
