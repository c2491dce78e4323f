import type { Candidates } from './candidates.ts';

/** Pairs between nodes: left rows first; right rows behind them, or the same rows where one list is compared with itself. */
export interface PairGraph {
  nodes: number;
  left: Uint32Array;
  right: Uint32Array;
}

/** Rounds in which what one record takes is told to the others; later ones change nothing that can be seen. */
const ROUNDS = 20;

/** The graph of candidates between `lefts` rows and `rights` others, or among `lefts` where that is null. */
export function graphOf(candidates: Candidates, lefts: number, rights: number | null): PairGraph {
  return {
    nodes: lefts + (rights ?? 0),
    left: candidates.left,
    right: rights === null ? candidates.right : candidates.right.map((row) => row + lefts),
  };
}

/**
 * The probability of each pair when a record matches at most one other: of all sets of pairs without a common record, each as
 * likely as the product of its pairs' odds, those that hold the pair. Computed by passing messages along the pairs (the
 * monomer-dimer model), which is exact where pairs make no circles: what a rival is likely to take elsewhere takes nothing
 * here.
 */
export function withRivals({ nodes, left, right }: PairGraph, odds: Float64Array): Float64Array {
  const fromLeft = new Float64Array(odds.length).fill(1);
  const fromRight = new Float64Array(odds.length).fill(1);
  const taken = new Float64Array(nodes);
  for (let round = 0; round < ROUNDS; round++) {
    taken.fill(0);
    for (let at = 0; at < odds.length; at++) {
      taken[left[at]!]! += odds[at]! * fromRight[at]!;
      taken[right[at]!]! += odds[at]! * fromLeft[at]!;
    }
    for (let at = 0; at < odds.length; at++) {
      const byLeft = Math.max(0, taken[left[at]!]! - odds[at]! * fromRight[at]!);
      const byRight = Math.max(0, taken[right[at]!]! - odds[at]! * fromLeft[at]!);
      // half way on a scale of ratios: whole steps would swing between too much and too little
      fromLeft[at] = Math.sqrt(fromLeft[at]! / (1 + byLeft));
      fromRight[at] = Math.sqrt(fromRight[at]! / (1 + byRight));
    }
  }
  return odds.map((odd, at) => {
    const weight = odd * fromLeft[at]! * fromRight[at]!;
    return weight / (1 + weight);
  });
}
