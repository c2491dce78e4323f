import type { RemoteField, RemoteRecord } from '../../remote.types.ts';
import { standardTargets } from './classes.data.ts';
import { remoteId, splitId } from './keys.ts';
import type { Shown } from './transport.ts';

/** What nobody knows to have changed. */
export const longAgo = new Date(0).toISOString();

/** Whether an attribute leads to another object: then its name for people comes with it. */
export const isReference = (columns: ReadonlySet<string>, name: string): boolean =>
  columns.has(`${name}_friendlyname`);

/** What is read so that attributes can be told as records have them. */
export function outputFields(fields: readonly string[], columns: ReadonlySet<string>): string {
  const names = new Set(['id']);
  for (const name of fields) {
    names.add(name);
    if (!isReference(columns, name)) continue;
    names.add(`${name}_friendlyname`);
    if (columns.has(`${name}_finalclass_recall`)) names.add(`${name}_finalclass_recall`);
  }
  return [...names].join(',');
}

/** An object in our form. Attributes that lead to others hold the id of the record there. */
export function recordOf(
  table: string,
  { class: className, key, fields: cells }: Shown,
  fields: readonly string[],
  updatedAt = longAgo,
): RemoteRecord {
  const shown: Record<string, RemoteField> = {};
  // an attribute that is not in the answer is unknown, which is not the same as empty
  for (const name of fields) if (cells[name] !== undefined) shown[name] = fieldOf(className, name, cells);
  return { table, id: remoteId(className, key), fields: shown, updatedAt };
}

function fieldOf(className: string, name: string, cells: Record<string, unknown>): RemoteField {
  const value = textOf(cells[name]);
  const display = cells[`${name}_friendlyname`];
  if (display === undefined) return { value };
  const id = referenceOf(value, cells[`${name}_finalclass_recall`], standardTarget(className, name));
  return display === '' || display === null ? { value: id } : { value: id, display: textOf(display) };
}

/** The class that an attribute of the public data model leads to, where that is known beforehand. */
export const standardTarget = (className: string, name: string): string | undefined =>
  standardTargets[`${className}.${name}`] ?? standardTargets[name];

/** The id of the record that an attribute leads to; '' for none, the bare key where its class is not told. */
export function referenceOf(key: string, told: unknown, target: string | undefined): string {
  if (key === '' || key === '0') return '';
  const className = typeof told === 'string' && told !== '' ? told : target;
  return className === undefined ? key : remoteId(className, key);
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/**
 * A value as the service takes it. What leads to another object may be given as a record's id, or as the name by which the
 * service itself is to find the one object that bears it.
 */
export function writtenOf(
  columns: ReadonlySet<string>,
  name: string,
  value: string | number | boolean | null,
): string | number | boolean | { name: string } {
  const leads = isReference(columns, name) || (columns.size === 0 && name.endsWith('_id'));
  if (value === null) return leads ? 0 : '';
  if (!leads || typeof value !== 'string' || value === '') return value;
  return splitId(value)?.key ?? (/^\d+$/.test(value) ? value : { name: value });
}
