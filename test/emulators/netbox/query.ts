import { microsOf } from '../../../integrations/exchange/itsm/connectors/netbox/records.ts';
import type { Row } from './store.ts';

/** Filters that a list knows, beside those on custom fields; all others are ignored. */
export const filterNames = (columns: string[], references: string[]): string[] => [
  'id',
  'id__gt',
  'last_updated',
  'last_updated__gt',
  'last_updated__gte',
  'q',
  ...columns.flatMap((name) => [name, `${name}__ic`]),
  ...references.flatMap((name) => [name, `${name}_id`]),
];

type Test = (row: Row, values: string[]) => boolean;

const numbers = (compare: (value: number, asked: number) => boolean, read: (text: string) => number) =>
  function test(value: unknown, values: string[]): boolean {
    return values.some((text) => compare(value as number, read(text)));
  };
const moment = (text: string): number => microsOf(text) ?? Number.NaN;
const equal = (a: number, b: number): boolean => a === b;
const greater = (a: number, b: number): boolean => a > b;
const atLeast = (a: number, b: number): boolean => a >= b;

/** Rows that fit all the parameters that are filters here. */
export function filtered(
  rows: Row[],
  query: URLSearchParams,
  known: string[],
  references: Record<string, (id: unknown) => string | undefined>,
  customFields: string[],
): Row[] {
  const tests: [Test, string[]][] = [];
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    const test = testOf(name, known, references, customFields);
    if (test) tests.push([test, values]);
  }
  return rows.filter((row) => tests.every(([test, values]) => test(row, values)));
}

function testOf(
  name: string,
  known: string[],
  references: Record<string, (id: unknown) => string | undefined>,
  customFields: string[],
): Test | undefined {
  if (name.startsWith('cf_')) {
    const field = name.slice(3);
    if (!customFields.includes(field)) return undefined;
    // loose, as custom fields are unless they are set up otherwise
    return ({ custom_fields: custom }, values) =>
      values.some((text) => String((custom as Record<string, unknown>)[field] ?? '').includes(text));
  }
  if (!known.includes(name)) return undefined;
  const on =
    (column: string, test: (value: unknown, values: string[]) => boolean): Test =>
    (row, values) =>
      test(row[column], values);
  switch (name) {
    case 'id':
    case 'changed_object_id':
      return on(name, numbers(equal, Number));
    case 'id__gt':
      return on('id', numbers(greater, Number));
    case 'last_updated':
      return on('at', numbers(equal, moment));
    case 'last_updated__gt':
      return on('at', numbers(greater, moment));
    case 'last_updated__gte':
    case 'time_after':
      return on('at', numbers(atLeast, moment));
  }
  if (name.endsWith('__ic'))
    return on(name.slice(0, -4), (value, values) =>
      values.some((text) => String(value).toLowerCase().includes(text.toLowerCase())),
    );
  const slug = references[name];
  if (slug) return on(name, (value, values) => values.includes(slug(value) ?? ''));
  const column = name.endsWith('_id') && references[name.slice(0, -3)] ? name.slice(0, -3) : name;
  return on(column, (value, values) => values.includes(String(value)));
}

/** Rows in the order asked for; by number otherwise. */
export function ordered(rows: Row[], ordering: string | null): Row[] {
  const parts = (ordering ?? 'id').split(',').filter((part) => part !== '');
  const value = (row: Row, name: string): never => row[name === 'last_updated' ? 'at' : name] as never;
  return [...rows].sort((a, b) => {
    for (const part of parts) {
      const name = part.replace(/^-/, '');
      const sign = part.startsWith('-') ? -1 : 1;
      if (value(a, name) !== value(b, name)) return value(a, name) < value(b, name) ? -sign : sign;
    }
    return 0;
  });
}
