/**
 * A table is an endpoint below `/api/`, such as `dcim/devices` or `plugins/netbox-dns/zones`. NetBox counts the objects
 * of each by themselves, so that an id of ours names both: `dcim/devices/231`.
 */
const tableForm = /^[a-z][a-z0-9_-]*(\/[a-z][a-z0-9_-]*){1,3}$/;
const idForm = /^(.+)\/(\d+)$/;

export const isTable = (table: string): boolean => tableForm.test(table);

export const idOf = (table: string, key: number | string): string => `${table}/${key}`;

/** The number of an object of the table; undefined for what is none of its ids. */
export function keyOf(table: string, id: string): number | undefined {
  const [, found, key] = idForm.exec(id) ?? [];
  return found === table ? Number(key) : undefined;
}

/** What lies below `/api/` of an address that NetBox has given; undefined for another one. */
export function belowApi(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined;
  const path = URL.canParse(address, 'http://netbox') ? new URL(address, 'http://netbox').pathname : '';
  const at = path.indexOf('/api/');
  return at < 0 ? undefined : path.slice(at + '/api/'.length).replace(/\/$/, '');
}
