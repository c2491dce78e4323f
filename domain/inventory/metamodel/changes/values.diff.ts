import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { convertValue } from './values.convert.ts';

export type Fields = ReadonlyMap<string, CompiledField>;

/** What a change of the fields does to values that are stored under them. */
export interface ValueChanges {
  /** Keys of the fields that are gone. */
  removed: string[];
  retyped: { from: CompiledField; to: CompiledField }[];
  /** Options that are gone from fields that keep their type. */
  options: { field: string; removed: ReadonlySet<string> }[];
}

/** What is in one set and not in the other. */
export function minus<T>(all: ReadonlySet<T>, others: ReadonlySet<T>): Set<T> {
  return new Set([...all].filter((item) => !others.has(item)));
}

/** Compares the fields of a type before and after a change. */
export function valueChanges(before: Fields, after: Fields): ValueChanges {
  const changes: ValueChanges = { removed: [], retyped: [], options: [] };
  for (const from of before.values()) {
    const to = after.get(from.key);
    if (!to) changes.removed.push(from.key);
    else if (to.type !== from.type) changes.retyped.push({ from, to });
    else {
      const removed = minus(from.options, to.options);
      if (removed.size > 0) changes.options.push({ field: from.key, removed });
    }
  }
  return changes;
}

export function changesNothing({ removed, retyped, options }: ValueChanges): boolean {
  return removed.length + retyped.length + options.length === 0;
}

/** Attributes as the changed fields take them; what does not fit the new type of its field is left out. */
export function restatedAttributes(
  attributes: Record<string, unknown>,
  { removed, retyped, options }: ValueChanges,
): Record<string, unknown> {
  const values = new Map(Object.entries(attributes));
  for (const key of removed) values.delete(key);
  for (const { to } of retyped) {
    if (!values.has(to.key)) continue;
    const value = convertValue(to, values.get(to.key));
    if (value === undefined) values.delete(to.key);
    else values.set(to.key, value);
  }
  for (const { field, removed: gone } of options) {
    const value = values.get(field);
    if (typeof value === 'string' && gone.has(value)) values.delete(field);
    if (!Array.isArray(value)) continue;
    const left = value.filter((option) => !gone.has(option));
    if (left.length === 0) values.delete(field);
    else values.set(field, left);
  }
  return Object.fromEntries(values);
}

/** Rows whose `attributes` hold what the changes concern, as a condition over the alias. */
export function touchedRows(alias: string, { removed, retyped, options }: ValueChanges): Fragment {
  const keys = [...removed, ...retyped.map(({ to }) => to.key)];
  const parts = ['jsonb_exists_any(:attributes, ?::text[])'];
  const bindings: unknown[] = [keys];
  for (const { field, removed: gone } of options) {
    parts.push(`(${holdsOption(':attributes')})`);
    bindings.push(field, [...gone], field, [...gone]);
  }
  return { sql: `(${parts.join(' or ')})`.replaceAll(':attributes', `${alias}.attributes`), bindings };
}

/** Whether the attribute (1st and 3rd binding) is, or lists, one of the options (2nd and 4th). */
export function holdsOption(attributes: string): string {
  return `${attributes} ->> ?::text = any(?::text[]) or jsonb_exists_any(${attributes} -> ?::text, ?::text[])`;
}
