import { BINS, binOf } from './bits.ts';
import { ALL_WORDS, RARITY } from './matching.types.ts';
import { type DescribedAspect, isDescribing } from './reliability.ts';

interface Model {
  aspects: { aspect: string; bits: number[] }[];
}

/** Minimum probability of a pair to count for whether fields confirm matches, and to count as a match. */
const LEAST = { counted: 0.1, match: 0.5 };
/** Names below this rarity are common: more than 0.15 other records are expected to have one by chance. */
const COMMON = 0.42;
/** Bits per unit of rarity; a unit is 16 doublings of the records that are expected by chance. */
const BITS = 24;
/** The mean of how far matches are below that rarity, from which on names fully count as common. */
const MOST_COMMON = 0.06;
/** The share of the expected agreement of fields from which on they confirm the matches. */
const CONFIRMING = 0.65;
/** Weight of even evidence, in pairs: of an agreement, of a field's pairs among all matches, and of other pairs. */
const BELIEF = { agreement: 1, matches: 5, others: 10 };
/** The share of the fields that describe objects below which they hardly say anything. */
const FEW_FIELDS = 0.2;

/**
 * The model with less evidence for equal names of frequent words, as far as the other fields do not confirm the matches: if these agree
 * no more than in other pairs, it is because the names are equal by chance, or because the fields are unreliable; the more records are
 * expected to have the names by chance, the more probable is the former.
 * @param expected by aspect, the shares of matches of other lists by bin.
 */
export function withChanceNames<M extends Model>(
  aspects: readonly DescribedAspect[],
  model: M,
  probabilities: Float64Array,
  expected: readonly (readonly number[])[],
): M {
  const rarity = aspects.find(({ name }) => name === RARITY)?.similarities;
  if (!rarity) return model;
  const part = commonness(rarity, probabilities) * doubt(aspects, probabilities, expected);
  if (part === 0) return model;
  return {
    ...model,
    aspects: model.aspects.map((aspect) =>
      aspect.aspect === RARITY
        ? {
            ...aspect,
            bits: aspect.bits.map((bit, bin) => bit - part * BITS * Math.max(0, COMMON - (bin + 0.5) / BINS)),
          }
        : aspect,
    ),
  };
}

/** How common the equal names of the matches are, 0..1. */
function commonness(rarity: Float32Array, probabilities: Float64Array): number {
  let [sum, count] = [0, 1];
  for (const [at, probability] of probabilities.entries()) {
    if (probability < LEAST.match) continue;
    count += probability;
    if (rarity[at]! < COMMON) sum += probability * (COMMON - rarity[at]!);
  }
  return Math.min(1, sum / count / MOST_COMMON);
}

/** How far fields that describe objects do not agree in the matches as in those of other lists, 0..1. */
function doubt(
  aspects: readonly DescribedAspect[],
  probabilities: Float64Array,
  expected: readonly (readonly number[])[],
): number {
  const all = probabilities.reduce((sum, one) => sum + (one < LEAST.counted ? 0 : one), BELIEF.matches);
  let [filled, confirmed] = [0, 0];
  for (const [index, aspect] of aspects.entries()) {
    if (!isDescribing(aspect) || aspect.name === ALL_WORDS) continue;
    const { matches, agreeing, others, othersAgreeing } = countsOf(aspect.similarities, probabilities);
    const base = Math.min(0.95, (othersAgreeing + 1) / (others + BELIEF.others));
    const found = (agreeing + BELIEF.agreement * base) / (matches + BELIEF.agreement);
    const most = Math.max(expected[index]![BINS - 1]!, base + 0.05);
    filled += matches / all;
    confirmed += (matches / all) * Math.min(1, Math.max(0, (found - base) / (most - base)));
  }
  const share = confirmed / (filled + FEW_FIELDS);
  return Math.min(1, filled) * Math.max(0, 1 - share / CONFIRMING);
}

/** The matches and other pairs with a value in both records, and how many of them agree. */
function countsOf(similarities: Float32Array, probabilities: Float64Array) {
  const counts = { matches: 0, agreeing: 0, others: 0, othersAgreeing: 0 };
  for (const [at, similarity] of similarities.entries()) {
    if (Number.isNaN(similarity)) continue;
    const probability = probabilities[at]! < LEAST.counted ? 0 : probabilities[at]!;
    counts.matches += probability;
    counts.others += 1 - probability;
    if (binOf(similarity) < BINS - 1) continue;
    counts.agreeing += probability;
    counts.othersAgreeing += 1 - probability;
  }
  return counts;
}
