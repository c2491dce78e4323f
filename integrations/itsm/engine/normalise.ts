import type { RemoteRecord } from '../remote.types.ts';
import { type Surroundings, toLocal } from './mapping.transforms.ts';
import type { FieldMapping, Mapping, Path } from './mapping.types.ts';
import type { LocalCard } from './observation.types.ts';
import { canonical, type Value } from './values.ts';

/** The mapped fields of a record, by the card's paths and as the remote holds them. */
export function remoteFields(mapping: Mapping, record: RemoteRecord): Record<Path, Value> {
  return Object.fromEntries(
    mapping.fields.map(({ path, remote }) => [path, canonical(record.fields[remote]?.value)]),
  );
}

/** The mapped fields of a card. */
export function localFields(mapping: Mapping, card: LocalCard): Record<Path, Value> {
  return Object.fromEntries(mapping.fields.map(({ path }) => [path, canonical(card.fields[path])]));
}

/** A record as the inventory would hold it. */
export interface LocalView {
  fields: Record<Path, Value>;
  /** By path, why a value could not be told here. */
  problems: Record<Path, string>;
  /** By path, the record that has to be mapped before its value can be told. */
  awaits: Record<Path, string>;
}

/** Tells a record's values in the inventory's words. */
export function localView(mapping: Mapping, record: RemoteRecord, around: Surroundings): LocalView {
  const view: LocalView = { fields: {}, problems: {}, awaits: {} };
  const values = remoteFields(mapping, record);
  for (const field of mapping.fields) {
    const told = toLocal(field, values[field.path] ?? null, around);
    if (told.ok) view.fields[field.path] = told.value;
    else {
      view.problems[field.path] = told.problem;
      if (told.awaits !== undefined) view.awaits[field.path] = told.awaits;
    }
  }
  return view;
}

/** A value as the identity fields compare it: letters' case and blanks around or repeated do not count. */
function folded(value: Value): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase() || null;
}

/** What the identity fields of a thing say together; null unless all of them are filled. */
export function identityKey(fields: readonly FieldMapping[], values: Record<Path, Value>): string | null {
  const parts = fields.filter(({ identity }) => identity).map(({ path }) => folded(values[path] ?? null));
  return parts.length === 0 || parts.includes(null) ? null : JSON.stringify(parts);
}
