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
