import { createHash } from 'node:crypto';
import type { MatchField, MatchRecord } from './matching.types.ts';

/** Items of a list or set that are read, the first ones. */
const MOST_ITEMS = 200;

/** A value as text, lists one item after the other; a missing one is empty. */
export function textOf({ values }: MatchRecord, field: string): string {
  const value = values[field];
  return Array.isArray(value) ? value.slice(0, MOST_ITEMS).join(' ') : `${value ?? ''}`;
}

/** A value as the items of a list, empty ones left out; a text is a list of one. */
export function itemsOf({ values }: MatchRecord, field: string): string[] {
  const value = values[field];
  const items = Array.isArray(value) ? value.slice(0, MOST_ITEMS) : [value ?? ''];
  return items.map((item) => `${item}`).filter((item) => item !== '');
}

/** The records in the order of their ids, so that nothing depends on the order in which they are given. */
export function byId(records: readonly MatchRecord[]): MatchRecord[] {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const twice = sorted.find(({ id }, at) => at > 0 && sorted[at - 1]!.id === id);
  if (twice) throw new RangeError(`The id ${JSON.stringify(twice.id)} comes twice.`);
  return sorted;
}

/** A fingerprint of what a record says in some fields; equal ones say the same. */
export function digestOf(record: MatchRecord, fields: readonly MatchField[]): string {
  const hash = createHash('sha256');
  for (const { name } of fields) hash.update(`${JSON.stringify(record.values[name] ?? null)}\n`);
  return hash.digest('base64').slice(0, 22);
}
