import { BINS, binOf } from './bits.ts';
import type { MatchModel } from './matching.types.ts';
import type { Space } from './vectors.ts';

/**
 * Maximum population stability index of a valid model; by convention 0.25 and more is a significant change.
 */
const MOST_DRIFT = 0.25;
/** Maximum increase of the share of unknown words. */
const MOST_NEW_WORDS = 0.1;
/** Minimum share of a bin, so that single pairs in empty bins have little effect. */
const LEAST_SHARE = 0.005;

/** The difference between records and the training data of a model. */
export interface Drift {
  /** The largest population stability index of the aspects' similarities, and its aspect. */
  index: number;
  aspect: string | null;
  /** Change of the share of unknown words. */
  newWords: number;
  /** Whether a limit is exceeded, so that a new model should be learned. */
  exceeded: boolean;
}

/** Shares of similarities in each bin, and of missing ones. */
export function binShares(similarities: Float32Array): number[] {
  const counts = new Array<number>(BINS + 1).fill(0);
  for (const similarity of similarities) counts[Number.isNaN(similarity) ? BINS : binOf(similarity)]! += 1;
  return counts.map((count) => count / Math.max(1, similarities.length));
}

/** The share of words that occurred at most once in the training data. */
export function newWordsIn({ counts, left, right }: Space): number {
  let [count, entries] = [0, 0];
  for (const { terms } of left === right ? [left] : [left, right]) {
    entries += terms.length;
    for (const term of terms) if (counts[term]! < 2) count++;
  }
  return count / Math.max(1, entries);
}

/** Computes the drift of the shares by aspect, see binShares, and of the words. */
export function driftOf(
  model: MatchModel,
  aspects: readonly { name: string; shares: readonly number[] }[],
  newWords: number,
): Drift {
  const indexes = aspects.map(({ name, shares }) => {
    const then = model.aspects.find(({ aspect }) => aspect === name)?.seen;
    return { aspect: name, index: then ? stability(then, shares) : 0 };
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
