/**
 * Why a kept JSON file is not what it should be, in one sentence; undefined when it is.
 * @param kept undefined when there is no file.
 */
export function staleness(name: string, kept: string | undefined, wanted: string): string | undefined {
  if (kept === wanted) return undefined;
  const why = kept === undefined ? 'it is missing' : difference(JSON.parse(kept), JSON.parse(wanted));
  return `${name} is not what the routes declare (${why}): run npm run openapi and commit it.`;
}

function difference(kept: unknown, wanted: unknown): string {
  const at = firstDifference(kept, wanted);
  return at ? `first at ${at}` : 'its layout differs';
}

/** The JSON pointer of the first place where two JSON values differ, in the order of the second. */
export function firstDifference(kept: unknown, wanted: unknown, at = '#'): string | undefined {
  if (Object.is(kept, wanted)) return undefined;
  if (typeof kept !== 'object' || typeof wanted !== 'object' || !kept || !wanted) return at;
  const before = kept as Record<string, unknown>;
  const after = wanted as Record<string, unknown>;
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(before, key) || !Object.hasOwn(after, key)) return place;
    const inside = firstDifference(before[key], after[key], place);
    if (inside) return inside;
  }
  return Object.keys(before).join('\n') === Object.keys(after).join('\n') ? undefined : at;
}
