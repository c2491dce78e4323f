interface Similarities {
  similarities: Float32Array;
}

/** Minimum number of pairs with both values for a correlation. */
const LEAST_PAIRS = 20;

/**
 * The independence of an aspect: 1 divided by the sum of its correlations with all aspects including itself. Without it,
 * redundant fields would be counted twice.
 */
export function independence({ similarities }: Similarities, aspects: readonly Similarities[]): number {
  return (
    1 /
    aspects.reduce((sum, other) => {
      const same = other.similarities === similarities;
      return sum + (same ? 1 : Math.max(0, correlation(similarities, other.similarities)));
    }, 0)
  );
}

/** Pearson's correlation over the pairs with both values; 0 if undefined. */
function correlation(a: Float32Array, b: Float32Array): number {
  let [count, sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at]!, b[at]!];
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    count++;
    sumA += x;
    sumB += y;
    squaresA += x * x;
    squaresB += y * y;
    products += x * y;
  }
  const spread = (squaresA - (sumA * sumA) / count) * (squaresB - (sumB * sumB) / count);
  return count >= LEAST_PAIRS && spread > 1e-9 ? (products - (sumA * sumB) / count) / Math.sqrt(spread) : 0;
}
