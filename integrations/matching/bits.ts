/** Similarities are counted in this many bins of one width. */
export const BINS = 10;

/** Pairs' worth of what is believed before any record is seen, for each aspect and class. */
const BELIEF = 20;
/** The share of each bin, where it is believed to grow as given. */
function believed(growth: (similarity: number) => number): number[] {
  const sizes = Array.from({ length: BINS }, (_, bin) => growth((bin + 0.5) / BINS));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sizes.map((size) => size / sum);
}
/** Matches are believed to be more the more alike, if seldom equal; candidates that are none, few beyond a third. */
const EXPECTED = {
  matches: believed((similarity) => similarity),
  others: believed((similarity) => (1 - similarity) ** 3),
};

/** The bin of a similarity. */
export const binOf = (similarity: number): number => Math.min(BINS - 1, Math.floor(similarity * BINS));

/**
 * What a similarity in each bin says for a match, in bits: the logarithm to base 2 of how much more often matches fall into it
 * than others (Fellegi and Sunter's weight), made never to fall from one bin to the next.
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
  return rising(
    shares.map(([match, other]) => Math.log2(match / other)),
    shares.map(([match, other]) => match + other),
  );
}

/** The rising values nearest to some values, by weighted squares (pool adjacent violators). */
function rising(values: readonly number[], weights: readonly number[]): Float64Array {
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

/** The bits of a similarity: those of the bins' middles, along straight lines between them; 0 for a missing one. */
export function bitsAt(bits: ArrayLike<number>, similarity: number): number {
  if (Number.isNaN(similarity)) return 0;
  const place = Math.min(BINS - 1, Math.max(0, similarity * BINS - 0.5));
  const below = Math.floor(place);
  const from = bits[below]!;
  return below === BINS - 1 ? from : from + (bits[below + 1]! - from) * (place - below);
}
