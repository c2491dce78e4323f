import { createHash } from 'node:crypto';
import type { MatchField, MatchRecord } from './matching.types.ts';

/** Maximum number of items of a list or set. */
const MOST_ITEMS = 200;

/** The value as text, arrays concatenated; empty if missing. */
export function textOf({ values }: MatchRecord, field: string): string {
  const value = values[field];
  return Array.isArray(value) ? value.slice(0, MOST_ITEMS).join(' ') : `${value ?? ''}`;
}

/** The value as non-empty list items; a text is a list of one item. */
export function itemsOf({ values }: MatchRecord, field: string): string[] {
  const value = values[field];
  const items = Array.isArray(value) ? value.slice(0, MOST_ITEMS) : [value ?? ''];
  return items.map((item) => `${item}`).filter((item) => item !== '');
}

/** Sorts the records by id, so that results do not depend on the given order. */
export function byId(records: readonly MatchRecord[]): MatchRecord[] {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const twice = sorted.find(({ id }, at) => at > 0 && sorted[at - 1]!.id === id);
  if (twice) throw new RangeError(`The id ${JSON.stringify(twice.id)} comes twice.`);
  return sorted;
}

/** A hash of a record's values in some fields. */
export function digestOf(record: MatchRecord, fields: readonly MatchField[]): string {
  const hash = createHash('sha256');
  for (const { name } of fields) hash.update(`${JSON.stringify(record.values[name] ?? null)}\n`);
  return hash.digest('base64').slice(0, 22);
}
