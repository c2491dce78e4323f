import type { PairGraph } from './rivals.ts';

/** Pairs below this say nothing about groups. */
const LEAST = 0.1;
/** Neighbours of a record that are looked at; those of a larger group say the same. */
const MOST_NEIGHBOURS = 50;

/**
 * Of two records that match a third, the share that match each other, among those that were compared: identity is transitive,
 * likeness is not. 1 where no record matches two others.
 */
export function transitivityOf({ nodes, left, right }: PairGraph, probabilities: Float64Array): number {
  const neighbours: { node: number; probability: number }[][] = Array.from({ length: nodes }, () => []);
  const known = new Map<number, number>();
  for (const [at, probability] of probabilities.entries()) {
    known.set(left[at]! * nodes + right[at]!, probability);
    if (probability < LEAST) continue;
    neighbours[left[at]!]!.push({ node: right[at]!, probability });
    neighbours[right[at]!]!.push({ node: left[at]!, probability });
  }
  let [closed, all] = [0, 0];
  for (const around of neighbours) {
    around.splice(MOST_NEIGHBOURS);
    for (const [at, one] of around.entries()) {
      for (const other of around.slice(at + 1)) {
        const [low, high] = one.node < other.node ? [one.node, other.node] : [other.node, one.node];
        const between = known.get(low * nodes + high);
        if (between === undefined) continue;
        all += one.probability * other.probability;
        closed += one.probability * other.probability * between;
      }
    }
  }
  return all > 0 ? closed / all : 1;
}
