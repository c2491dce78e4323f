/** The value below which the share `p` (0 to 1) of the sorted values lies, by nearest rank. */
export function percentile(values: number[], p: number): number {
  if (values.length === 0) throw new RangeError('there are no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;
}

/** The middle value; of an even number of values the mean of the middle two. */
export function median(values: number[]): number {
  if (values.length === 0) throw new RangeError('there are no values');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
