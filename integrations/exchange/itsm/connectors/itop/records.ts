import type { RemoteField, RemoteRecord } from '../../remote.ts';
import { standardTargets } from './classes.data.ts';
import type { ItopObject } from './transport.ts';

/** A key is unique within a root class only; together with the object's own class, which never changes, it is unique. */
export const remoteId = (className: string, key: string | number): string => `${className}::${key}`;

const form = /^([A-Za-z_]\w*)::([1-9]\d*)$/;

/** @returns undefined for a text of another form. */
export function splitId(id: string): { className: string; key: number } | undefined {
  const [, className, key] = form.exec(id) ?? [];
  return className === undefined ? undefined : { className, key: Number(key) };
}

/** The time of change of objects whose last change is unknown. */
export const UNKNOWN_TIME = new Date(0).toISOString();

/** Whether an attribute refers to another object: then the response contains the name of that object too. */
export const isReference = (columns: ReadonlySet<string>, name: string): boolean =>
  columns.has(`${name}_friendlyname`);

/** The `output_fields` to read attributes; all of them while the attributes of the class are unknown. */
export function outputFields(fields: readonly string[], columns: ReadonlySet<string>): string {
  if (columns.size === 0) return '*';
  const names = new Set(['id']);
  for (const name of fields) {
    names.add(name);
    if (!isReference(columns, name)) continue;
    names.add(`${name}_friendlyname`);
    if (columns.has(`${name}_finalclass_recall`)) names.add(`${name}_finalclass_recall`);
  }
  return [...names].join(',');
}

/** An object as a record. Attributes that refer to others contain the id of that record. */
export function recordOf(
  table: string,
  { class: className, key, fields: cells }: ItopObject,
  fields: readonly string[],
  updatedAt = UNKNOWN_TIME,
): RemoteRecord {
  const shown: Record<string, RemoteField> = {};
  // a missing attribute is unknown, not empty
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

/** The class that an attribute of the public data model refers to, if it is known. */
export const standardTarget = (className: string, name: string): string | undefined =>
  standardTargets[`${className}.${name}`] ?? standardTargets[name];

/** The id of the record that an attribute refers to; '' for none, the bare key if its class is unknown. */
export function referenceOf(key: string, ownClass: unknown, target: string | undefined): string {
  if (key === '' || key === '0') return '';
  const className = typeof ownClass === 'string' && ownClass !== '' ? ownClass : target;
  return className === undefined ? key : remoteId(className, key);
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/**
 * A value as it is written. A reference may be the id of a record, or a name by which the service finds the
 * only object.
 */
export function serializeValue(
  columns: ReadonlySet<string>,
  name: string,
  value: string | number | boolean | null,
): string | number | boolean | { name: string } {
  const refers = isReference(columns, name) || (columns.size === 0 && name.endsWith('_id'));
  if (value === null) return refers ? 0 : '';
  if (!refers || typeof value !== 'string' || value === '') return value;
  return splitId(value)?.key ?? (/^\d+$/.test(value) ? value : { name: value });
}
