import type { Judged } from './judged.ts';
import { pairKey } from './judged.ts';

/** Of one list, a pair is taken from this cosine on. */
const FIXED = 0.5;

/**
 * What matching is measured against: the cosine of TF-IDF over the words of all text fields, every pair of the records
 * compared; between two lists the nearest pairs first, each record once; in one list all from a fixed cosine on.
 */
export function baselinePairs({ left, right, fields }: Judged): Set<string> {
  const texts = fields.filter(({ kind }) => kind !== 'number');
  const bags = [...left, ...(right ?? [])].map(({ values }) => {
    const counts = new Map<string, number>();
    for (const { name } of texts)
      for (const word of `${values[name] ?? ''}`.toLowerCase().match(/[a-z0-9]+/g) ?? [])
        counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  });
  const rows = new Map<string, number>();
  for (const bag of bags) for (const word of bag.keys()) rows.set(word, (rows.get(word) ?? 0) + 1);
  for (const bag of bags) {
    for (const [word, count] of bag) bag.set(word, count * Math.log(bags.length / rows.get(word)!));
    const length = Math.hypot(...bag.values()) || 1;
    for (const [word, weight] of bag) bag.set(word, weight / length);
  }
  const index = new Map<string, { row: number; weight: number }[]>();
  const from = right ? left.length : 0;
  for (const [row, bag] of bags.entries()) {
    if (row < from) continue;
    for (const [word, weight] of bag) {
      const entries = index.get(word);
      if (entries) entries.push({ row, weight });
      else index.set(word, [{ row, weight }]);
    }
  }
  const pairs: { a: number; b: number; cosine: number }[] = [];
  for (let a = 0; a < left.length; a++) {
    const sums = new Map<number, number>();
    for (const [word, weight] of bags[a]!)
      for (const entry of index.get(word) ?? [])
        sums.set(entry.row, (sums.get(entry.row) ?? 0) + weight * entry.weight);
    for (const [b, cosine] of sums)
      if (right ? cosine > 0 : b > a && cosine >= FIXED) pairs.push({ a, b, cosine });
  }
  const ids = [...left, ...(right ?? [])].map(({ id }) => id);
  if (right) pairs.sort((x, y) => y.cosine - x.cosine || x.a - y.a || x.b - y.b);
  const used = new Set<number>();
  const taken = new Set<string>();
  for (const { a, b } of pairs) {
    if (right && (used.has(a) || used.has(b))) continue;
    used.add(a).add(b);
    taken.add(pairKey(ids[a]!, ids[b]!));
  }
  return taken;
}
