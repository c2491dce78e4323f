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
