import type { Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import { RemoteError, type RemoteField, type RemoteRecord } from '../../remote.ts';

/**
 * A table is an endpoint below `/api/`, such as `dcim/devices` or `plugins/netbox-dns/zones`. Keys are unique within an endpoint
 * only, so the id of a record contains both: `dcim/devices/231`.
 */
const tableForm = /^[a-z][a-z0-9_-]*(\/[a-z][a-z0-9_-]*){1,3}$/;
const idForm = /^(.+)\/(\d+)$/;

export const isTable = (table: string): boolean => tableForm.test(table);

export const idOf = (table: string, key: number | string): string => `${table}/${key}`;

/** The key of an object of the table; undefined for ids of other tables. */
export function keyOf(table: string, id: string): number | undefined {
  const [, found, key] = idForm.exec(id) ?? [];
  return found === table ? Number(key) : undefined;
}

/** The path below `/api/` of an address that NetBox returned; undefined for other values. */
export function belowApi(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined;
  const path = URL.canParse(address, 'http://netbox') ? new URL(address, 'http://netbox').pathname : '';
  const at = path.indexOf('/api/');
  return at < 0 ? undefined : path.slice(at + '/api/'.length).replace(/\/$/, '');
}

export type Row = Record<string, unknown>;

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Texts joined by `;`, sorted. */
const joined = (texts: string[]): string =>
  texts
    .map((text) => text.replaceAll(';', '\\;'))
    .sort()
    .join(';');

/** Splits texts that are joined by `;`. */
export const listOf = (text: string): string[] =>
  text
    .split(/(?<!\\);/)
    .map((part) => part.replaceAll('\\;', ';').trim())
    .filter((part) => part !== '');

/** A value in the form in which it is compared: the stored value of choices, the id of objects, lists as one text. */
export function fieldOf(value: unknown): RemoteField {
  if (Array.isArray(value)) {
    const fields = value.map((item) => (isTag(item) ? { value: item.slug } : fieldOf(item)));
    const texts = fields.map((field) => field.value);
    if (!texts.every((text) => typeof text === 'string' || typeof text === 'number'))
      return { value: value as Value };
    return { value: joined(texts.map(String)) };
  }
  if (!isObject(value)) return { value: (value ?? null) as Value };
  const id = belowApi(value.url);
  if (id !== undefined && 'id' in value) {
    const display = value.display ?? value.name;
    return typeof display === 'string' ? { value: id, display } : { value: id };
  }
  if ('value' in value && 'label' in value) {
    return { value: value.value as Value, display: String(value.label) };
  }
  return { value: value as Value };
}

const isTag = (value: unknown): value is { slug: string } =>
  isObject(value) && typeof value.slug === 'string' && 'color' in value;

/** The value at a path such as `custom_fields.owner` or `primary_ip4.address`; undefined if there is none. */
export function valueAt(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const part of path.split('.')) {
    if (value === null) return null;
    if (!isObject(value)) return undefined;
    value = Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

/** Microseconds since 1970 of a time as NetBox writes it; undefined for any other value. */
export function microsOf(time: unknown): number | undefined {
  if (typeof time !== 'string') return undefined;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return undefined;
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  return ms * 1000 + Number(fraction.padEnd(6, '0').slice(3, 6));
}

/** RFC 3339 with microseconds. */
export function timeOf(micros: number): string {
  const ms = Math.floor(micros / 1000);
  return new Date(ms).toISOString().replace('Z', `${String(micros - ms * 1000).padStart(3, '0')}Z`);
}

const TIME_PREFIX = 'seen ';

/** The version of an object in a list, which has no ETags: its time of update. */
export const versionByTime = (row: Row): string => `${TIME_PREFIX}${String(row.last_updated)}`;

/** The time of update in such a version; undefined for an ETag. */
export const timeInVersion = (version: string): string | undefined =>
  version.startsWith(TIME_PREFIX) ? version.slice(TIME_PREFIX.length) : undefined;

/** An object as a record; undefined if it is not an object. */
export function recordOf(
  table: string,
  row: unknown,
  fields: string[],
  version?: string,
): RemoteRecord | undefined {
  if (!isObject(row) || typeof row.id !== 'number') return undefined;
  const values: Record<string, RemoteField> = {};
  for (const path of fields) {
    const value = valueAt(row, path);
    // a missing column is unknown, not empty
    if (value !== undefined) values[path] = fieldOf(value);
  }
  const micros = microsOf(row.last_updated) ?? 0;
  return {
    table,
    id: idOf(table, row.id),
    fields: values,
    updatedAt: new Date(Math.floor(micros / 1000)).toISOString(),
    ...(version === undefined ? {} : { version }),
  };
}

/** Parameters that the connector sets; a filter must not contain them. */
const reserved = new Set([
  'id',
  'id__gt',
  'last_updated',
  'last_updated__gt',
  'last_updated__gte',
  'limit',
  'offset',
  'start',
  'ordering',
  'fields',
  'omit',
  'exclude',
  'brief',
  'format',
  'export',
]);

/** The parameters of a filter such as `status=active&site=fra`. */
export const parametersOf = (filter: string): URLSearchParams =>
  new URLSearchParams(filter.trim().replace(/^\?/, ''));

export const isReserved = (name: string): boolean => reserved.has(name);

/** The filter of a mapping as query parameters. @throws RemoteError `refused` */
export function filterOf(table: string, filter: string | undefined): URLSearchParams {
  const parameters = parametersOf(filter ?? '');
  const found = [...parameters.keys()].find(isReserved);
  if (found === undefined) return parameters;
  const what = `The filter on ${table} contains ${found}, which is reserved for paging`;
  throw new RemoteError('refused', `table ${table}`, what);
}
