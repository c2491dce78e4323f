/** Number of equal-width bins for similarities. */
export const BINS = 10;

/** Weight of the prior per aspect and class, in pairs. */
const BELIEF = 20;
/** The prior share of each bin for a growth function. */
function priorShares(growth: (similarity: number) => number): number[] {
  const sizes = Array.from({ length: BINS }, (_, bin) => growth((bin + 0.5) / BINS));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sizes.map((size) => size / sum);
}
/** Priors: matches are frequent at high similarities, if seldom equal; non-matches are rare above a third. */
const EXPECTED = {
  matches: priorShares((similarity) => similarity),
  others: priorShares((similarity) => (1 - similarity) ** 3),
};

/** The bin of a similarity. */
export const binOf = (similarity: number): number => Math.min(BINS - 1, Math.floor(similarity * BINS));

/**
 * The weight of each bin in bits (Fellegi and Sunter): the binary logarithm of the ratio of its frequencies among matches and
 * non-matches, made monotonic.
 */
export function bitsOf(similarities: Float32Array, probabilities: Float64Array): Float64Array {
  const matches = EXPECTED.matches.map((share) => share * BELIEF);
  const others = EXPECTED.others.map((share) => share * BELIEF);
  for (let at = 0; at < similarities.length; at++) {
    if (Number.isNaN(similarities[at]!)) continue;
    const bin = binOf(similarities[at]!);
    matches[bin]! += probabilities[at]!;
    others[bin]! += 1 - probabilities[at]!;
  }
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  const [allMatches, allOthers] = [sum(matches), sum(others)];
  const shares = matches.map((count, bin) => [count / allMatches, others[bin]! / allOthers] as const);
  return isotonic(
    shares.map(([match, other]) => Math.log2(match / other)),
    shares.map(([match, other]) => match + other),
  );
}

/** Isotonic regression (pool adjacent violators). */
function isotonic(values: readonly number[], weights: readonly number[]): Float64Array {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  for (const [at, value] of values.entries()) {
    blocks.push({ sum: value * weights[at]!, weight: weights[at]!, count: 1 });
    while (blocks.length > 1) {
      const [before, last] = blocks.slice(-2) as [(typeof blocks)[0], (typeof blocks)[0]];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      blocks.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
    }
  }
  return Float64Array.from(blocks.flatMap(({ sum, weight, count }) => Array(count).fill(sum / weight)));
}

/** The bits of a similarity, interpolated linearly between the bins' centres; 0 for a missing one. */
export function bitsAt(bits: ArrayLike<number>, similarity: number): number {
  if (Number.isNaN(similarity)) return 0;
  const place = Math.min(BINS - 1, Math.max(0, similarity * BINS - 0.5));
  const below = Math.floor(place);
  const from = bits[below]!;
  return below === BINS - 1 ? from : from + (bits[below + 1]! - from) * (place - below);
}
