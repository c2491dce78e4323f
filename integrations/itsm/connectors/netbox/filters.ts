import { done, failed, type Result } from '../../remote.failures.ts';

/** Parameters by which pages are read: in a filter they would turn a reading into another one. */
const ours = new Set([
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

export const isOurs = (name: string): boolean => ours.has(name);

/** The filter of a mapping as it goes into an address. */
export function filterOf(table: string, filter: string | undefined): Result<URLSearchParams> {
  const given = parametersOf(filter ?? '');
  const taken = [...given.keys()].find(isOurs);
  if (taken === undefined) return done(given);
  const what = `The filter on ${table} names ${taken}, by which the table itself is read`;
  return failed('refused', `table ${table}`, what);
}
