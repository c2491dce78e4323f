/**
 * Explains why a stored JSON file is out of date, in one sentence; undefined if it is current.
 * @param stored undefined if there is no file.
 */
export function staleness(name: string, stored: string | undefined, wanted: string): string | undefined {
  if (stored === wanted) return undefined;
  const why = stored === undefined ? 'it is missing' : difference(JSON.parse(stored), JSON.parse(wanted));
  return `${name} does not match the routes (${why}): run npm run openapi and commit it.`;
}

function difference(stored: unknown, wanted: unknown): string {
  const at = firstDifference(stored, wanted);
  return at ? `first at ${at}` : 'its layout differs';
}

/** The JSON pointer of the first difference between two JSON values, in the order of the second. */
export function firstDifference(stored: unknown, wanted: unknown, at = '#'): string | undefined {
  if (Object.is(stored, wanted)) return undefined;
  if (typeof stored !== 'object' || typeof wanted !== 'object' || !stored || !wanted) return at;
  const before = stored as Record<string, unknown>;
  const after = wanted as Record<string, unknown>;
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    const pointer = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(before, key) || !Object.hasOwn(after, key)) return pointer;
    const inside = firstDifference(before[key], after[key], pointer);
    if (inside) return inside;
  }
  return Object.keys(before).join('\n') === Object.keys(after).join('\n') ? undefined : at;
}
