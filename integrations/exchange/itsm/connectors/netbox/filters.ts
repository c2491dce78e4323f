import { RemoteError } from '../../remote.ts';

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
