import { release } from '../../../platform/release.ts';
import type { Candidates } from './candidates.ts';

/** Pairs between nodes: left rows, followed by right rows (or the same rows if one list is compared with itself). */
export interface PairGraph {
  nodes: number;
  left: Uint32Array;
  right: Uint32Array;
}

/** Number of rounds of message passing. */
const ROUNDS = 20;

/** The graph of candidates between `lefts` rows and `rights` others, or among `lefts` if `rights` is null. */
export function graphOf(candidates: Candidates, lefts: number, rights: number | null): PairGraph {
  return {
    nodes: lefts + (rights ?? 0),
    left: candidates.left,
    right: rights === null ? candidates.right : candidates.right.map((row) => row + lefts),
  };
}

/** Minimum probability without rivals of the three pairs of records that are certainly the same. */
const LEAST_ALLIED = 0.98;

/** A pair of a record, seen from the record. */
interface Link {
  pair: number;
  isLeft: boolean;
}

/** Two pairs of a record that do not exclude each other, and the probability that their other records are the same. */
interface Allies {
  link: Link;
  other: Link;
  closed: number;
}

/** The allied pairs, in both orders. Between two lists there are none. */
function alliesIn({ nodes, left, right }: PairGraph, odds: Float64Array): Allies[] {
  const around: (Link & { node: number })[][] = Array.from({ length: nodes }, () => []);
  const closing = new Map<number, number>();
  for (const [pair, odd] of odds.entries()) {
    const probability = odd / (1 + odd);
    if (probability < LEAST_ALLIED) continue;
    closing.set(left[pair]! * nodes + right[pair]!, probability);
    around[left[pair]!]!.push({ node: right[pair]!, pair, isLeft: true });
    around[right[pair]!]!.push({ node: left[pair]!, pair, isLeft: false });
  }
  return around.flatMap((links) =>
    links.flatMap((link, at) =>
      links.slice(at + 1).flatMap((other): Allies[] => {
        const closed = closing.get(Math.min(link.node, other.node) * nodes + Math.max(link.node, other.node));
        if (closed === undefined) return [];
        return [
          { link, other, closed },
          { link: other, other: link, closed },
        ];
      }),
    ),
  );
}

/**
 * The probability of each pair if a record matches at most one other, or several that are the same: the marginals of the
 * monomer-dimer model, in which each matching is weighted by the product of its pairs' odds. Computed by belief propagation,
 * which is exact without cycles. Two pairs of a record exclude each other only as far as their other records differ.
 * @param odds are replaced by the probabilities.
 */
export function oneToOneProbabilities<Odds extends Float64Array>(graph: PairGraph, odds: Odds): Odds {
  const { nodes, left, right } = graph;
  const allies = alliesIn(graph, odds);
  const alliedLeft = new Float64Array(odds.length);
  const alliedRight = new Float64Array(odds.length);
  const fromLeft = new Float64Array(odds.length).fill(1);
  const fromRight = new Float64Array(odds.length).fill(1);
  const taken = new Float64Array(nodes);
  for (let round = 0; round < ROUNDS; round++) {
    taken.fill(0);
    for (let at = 0; at < odds.length; at++) {
      taken[left[at]!]! += odds[at]! * fromRight[at]!;
      taken[right[at]!]! += odds[at]! * fromLeft[at]!;
    }
    alliedLeft.fill(0);
    alliedRight.fill(0);
    for (const { link, other, closed } of allies) {
      const taking = closed * odds[other.pair]! * (other.isLeft ? fromRight : fromLeft)[other.pair]!;
      (link.isLeft ? alliedLeft : alliedRight)[link.pair]! += taking;
    }
    for (let at = 0; at < odds.length; at++) {
      const byLeft = Math.max(0, taken[left[at]!]! - odds[at]! * fromRight[at]! - alliedLeft[at]!);
      const byRight = Math.max(0, taken[right[at]!]! - odds[at]! * fromLeft[at]! - alliedRight[at]!);
      // damping by the geometric mean: full steps would oscillate
      fromLeft[at] = Math.sqrt(fromLeft[at]! / (1 + byLeft));
      fromRight[at] = Math.sqrt(fromRight[at]! / (1 + byRight));
    }
  }
  for (let at = 0; at < odds.length; at++) {
    const weight = odds[at]! * fromLeft[at]! * fromRight[at]!;
    odds[at] = weight / (1 + weight);
  }
  release(alliedLeft, alliedRight, fromLeft, fromRight, taken);
  return odds;
}

/** Minimum odds of a pair that speaks for or against others, and of one of which others speak. */
export const LEAST_ODDS = { speaking: 0.3, spoken: 0.02 };
/** Maximum odds, so that no single pair decides. */
const MOST_ODDS = 10_000;
/** Maximum number of neighbours per record. */
const MOST_NEIGHBOURS = 50;

/**
 * The odds of each pair within groups, changed by third records: one that matches both records speaks for their pair, one that
 * matches only one of them against it. If x and y are the odds of its pairs with the two, it changes their odds by the factor
 * (1 + xy) / (1 + x + y), since of three pairs none, one or all can be true, but not two. Of several third records the geometric
 * mean counts, since what they say is similar.
 */
export function groupedOdds({ nodes, left, right }: PairGraph, odds: Float64Array): Float64Array {
  const around: { node: number; pair: number }[][] = Array.from({ length: nodes }, () => []);
  for (let pair = 0; pair < odds.length; pair++) {
    if (odds[pair]! < LEAST_ODDS.speaking) continue;
    around[left[pair]!]!.push({ node: right[pair]!, pair });
    around[right[pair]!]!.push({ node: left[pair]!, pair });
  }
  for (const links of around)
    if (links.length > MOST_NEIGHBOURS)
      links.sort((a, b) => odds[b.pair]! - odds[a.pair]! || a.pair - b.pair).splice(MOST_NEIGHBOURS);
  return odds.map((odd, at) => {
    if (odd < LEAST_ODDS.spoken) return odd;
    const ends = [left[at]!, right[at]!] as const;
    const seen = new Set<number>(ends);
    let [sum, count] = [0, 0];
    for (const [from, to] of [ends, ends.toReversed() as [number, number]])
      for (const { node, pair } of around[from]!) {
        if (seen.has(node)) continue;
        seen.add(node);
        const closing = placeOf(Math.min(node, to), Math.max(node, to), left, right);
        if (closing < 0) continue;
        const [x, y] = [Math.min(MOST_ODDS, odds[pair]!), Math.min(MOST_ODDS, odds[closing]!)];
        sum += Math.log((1 + x * y) / (1 + x + y));
        count++;
      }
    return count === 0 ? odd : odd * Math.exp(sum / count);
  });
}

/** Minimum probability of a pair for the transitivity. */
const LEAST = 0.1;

/**
 * How far matches form groups: `transitivity` is the share of compared pairs of records that match a third record and also each
 * other, 1 if no record matches two others, since identity is transitive and similarity is not; `thirds` the number of such pairs
 * per match.
 */
export function transitivityOf(
  { nodes, left, right }: PairGraph,
  probabilities: Float64Array,
): { transitivity: number; thirds: number } {
  const neighbours: { node: number; probability: number }[][] = Array.from({ length: nodes }, () => []);
  let matches = 0;
  for (const [at, probability] of probabilities.entries()) {
    if (probability < LEAST) continue;
    matches += probability;
    neighbours[left[at]!]!.push({ node: right[at]!, probability });
    neighbours[right[at]!]!.push({ node: left[at]!, probability });
  }
  let [closed, all] = [0, 0];
  for (const around of neighbours) {
    around.splice(MOST_NEIGHBOURS);
    for (const [at, one] of around.entries()) {
      for (const other of around.slice(at + 1)) {
        const [low, high] = one.node < other.node ? [one.node, other.node] : [other.node, one.node];
        const between = placeOf(low, high, left, right);
        if (between < 0) continue;
        all += one.probability * other.probability;
        closed += one.probability * other.probability * probabilities[between]!;
      }
    }
  }
  return { transitivity: all > 0 ? closed / all : 1, thirds: closed / Math.max(1, matches) };
}

/** The place of a pair in ascending pairs; -1 if it is not there. */
function placeOf(low: number, high: number, left: Uint32Array, right: Uint32Array): number {
  let [from, to] = [0, left.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (left[middle]! < low || (left[middle] === low && right[middle]! < high)) from = middle + 1;
    else to = middle;
  }
  return left[from] === low && right[from] === high ? from : -1;
}
