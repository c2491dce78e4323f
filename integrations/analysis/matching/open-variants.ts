import { bitsAt } from './bits.ts';

/**
 * The most log odds (natural) of a pair of which only one name has a version, region, edition ...: it may be another one, so
 * that such a pair is never certain.
 */
export const MOST_OPEN_LOG_ODDS = Math.log(9);
/** The similarity of variants of which only one name has one. */
const ONE_SIDED = 0.5;

interface VariantAspect {
  similarities: Float32Array;
  /** The bits of a rule by bin, relative to its strength. */
  rule?: readonly number[];
  isCode?: boolean;
}

/** Whether only one name of a pair has a variant that a rule counts against it, and no equal code says that they are the same. */
export function variantsOpen(aspects: readonly VariantAspect[]): (at: number) => boolean {
  const rules = aspects.filter(({ rule }) => rule && bitsAt(rule, ONE_SIDED) < 0);
  const codes = aspects.filter(({ isCode }) => isCode);
  return (at) =>
    rules.some(({ similarities }) => similarities[at] === ONE_SIDED) &&
    !codes.some(({ similarities }) => similarities[at] === 1);
}
