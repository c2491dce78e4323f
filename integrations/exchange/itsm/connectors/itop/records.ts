import type { RemoteField, RemoteRecord } from '../../remote.ts';
import type { RemoteRelationType, RemoteTable } from '../connector.ts';
import dataModel from './data-model.json' with { type: 'json' };
import type { ItopObject } from './transport.ts';

/**
 * The public data model: its classes with those that they extend, and its links. The service lists neither classes nor
 * attributes; classes of an instance's own are found by their names.
 */
export const standardClasses: readonly RemoteTable[] = dataModel.classes;
/**
 * The classes that attributes refer to, if they have no subclasses: responses do not contain them. With the class before the
 * point where others have an attribute of the same name that leads elsewhere.
 */
const standardTargets: Readonly<Record<string, string>> = dataModel.targets;
const standardLinks: readonly (LinkType & Pick<RemoteRelationType, 'forward' | 'reverse'>)[] =
  dataModel.links;

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

/** A relation type: a class of links, the attributes of its ends, and the classes these refer to as far as known. */
export interface LinkType {
  class: string;
  from: { attribute: string; class?: string };
  to: { attribute: string; class?: string };
}

const linkTypeId = ({ class: className, from, to }: LinkType): string =>
  `${className}:${from.attribute}:${to.attribute}`;

export const standardLinkTypes: RemoteRelationType[] = standardLinks
  .map((link) => ({ id: linkTypeId(link), name: link.class, forward: link.forward, reverse: link.reverse }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

const linkTypeForm = /^([A-Za-z]\w*):([A-Za-z]\w*)(?:>([A-Za-z]\w*))?:([A-Za-z]\w*)(?:>([A-Za-z]\w*))?$/;

/**
 * Parses the id of a relation type, `<link class>:<attribute>:<attribute>`. Attributes of an instance's own links may be
 * followed by `>` and the class they refer to, which is needed if no other class extends that one.
 */
export function linkTypeOf(id: string): LinkType | undefined {
  const [, className, from, fromClass, to, toClass] = linkTypeForm.exec(id) ?? [];
  if (className === undefined) return undefined;
  const known = standardLinks.find((link) => linkTypeId(link) === id);
  if (known) return known;
  return {
    class: className,
    from: { attribute: from!, ...(fromClass ? { class: fromClass } : {}) },
    to: { attribute: to!, ...(toClass ? { class: toClass } : {}) },
  };
}
