import { BINS, binOf } from './bits.ts';
import type { MatchModel } from './matching.types.ts';
import type { Space } from './vectors.ts';

/**
 * From which index on a model no longer fits: the population stability index, of which 0.25 and more is taken for a
 * significant change by custom.
 */
const MOST_DRIFT = 0.25;
/** How much the share of words that the model does not know may grow. */
const MOST_NEW_WORDS = 0.1;
/** Share that an empty bin is taken to have: so that one pair more or less in it says little. */
const LEAST_SHARE = 0.005;

/** How far records have moved from those that a model was learned from. */
export interface Drift {
  /** The largest population stability index of the aspects' similarities, and of which aspect it is. */
  index: number;
  aspect: string | null;
  /** By how much the share of words that the model does not know has grown; less than 0 where it fell. */
  newWords: number;
  /** Whether either is over its bound, so that a new model should be learned. */
  exceeded: boolean;
}

/** Shares of similarities in each bin, and of missing ones. */
export function seenIn(similarities: Float32Array): number[] {
  const counts = new Array<number>(BINS + 1).fill(0);
  for (const similarity of similarities) counts[Number.isNaN(similarity) ? BINS : binOf(similarity)]! += 1;
  return counts.map((count) => count / Math.max(1, similarities.length));
}

/** The share of the words of the records that came once, or not at all, when the model was learned. */
export function newWordsIn({ counts, left, right }: Space): number {
  let [count, entries] = [0, 0];
  for (const { terms } of left === right ? [left] : [left, right]) {
    entries += terms.length;
    for (const term of terms) if (counts[term]! < 2) count++;
  }
  return count / Math.max(1, entries);
}

/** How far the similarities of the compared pairs, by aspect, and the words are from those that the model was learned from. */
export function driftOf(
  model: MatchModel,
  aspects: readonly { name: string; similarities: Float32Array }[],
  newWords: number,
): Drift {
  const indexes = aspects.map(({ name, similarities }) => {
    const then = model.aspects.find(({ aspect }) => aspect === name)?.seen;
    return { aspect: name, index: then ? stability(then, seenIn(similarities)) : 0 };
  });
  const most = indexes.reduce((a, b) => (b.index > a.index ? b : a), {
    aspect: null as string | null,
    index: 0,
  });
  const grown = newWords - model.learned.newWords;
  return { ...most, newWords: grown, exceeded: most.index > MOST_DRIFT || grown > MOST_NEW_WORDS };
}

/** The population stability index of two distributions. */
function stability(then: readonly number[], now: readonly number[]): number {
  return then.reduce((sum, share, bin) => {
    const [a, b] = [Math.max(LEAST_SHARE, share), Math.max(LEAST_SHARE, now[bin]!)];
    return sum + (b - a) * Math.log(b / a);
  }, 0);
}
