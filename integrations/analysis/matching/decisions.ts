import { bitsAt } from './bits.ts';
import type { Decision, MatchModel } from './matching.types.ts';
import type { Comparison } from './stages.ts';

/** A decided pair with its similarities by aspect, NaN if missing. */
export interface DecidedPair {
  same: boolean;
  similarities: Readonly<Record<string, number>>;
}

/** The similarities of decided pairs, including non-candidates; undefined for pairs with missing records. */
export function decidedPairs(
  { left, right, aspects }: Comparison,
  decisions: readonly Decision[],
): (DecidedPair | undefined)[] {
  if (decisions.length === 0) return [];
  const lefts = new Map(left.map(({ id }, row) => [id, row]));
  const rights = right ? new Map(right.map(({ id }, row) => [id, row])) : lefts;
  return decisions.map((decision) => {
    const [low, high] =
      right || decision.left < decision.right
        ? [decision.left, decision.right]
        : [decision.right, decision.left];
    const [a, b] = [lefts.get(low), rights.get(high)];
    if (a === undefined || b === undefined) return undefined;
    const similarities = Object.fromEntries(
      aspects.aspects.map(({ name, similarity }) => [name, similarity(a, b)]),
    );
    return { same: decision.same, similarities };
  });
}

/** Weight of the learned bits of an aspect, in decisions. */
const BELIEF = 10;
const STEPS = 100;
/** Convergence threshold of the factors. */
const SETTLED = 1e-6;

/**
 * Scales the bits of each aspect and shifts the prior, so that decided pairs are classified as decided: logistic regression
 * that is regularised towards the learned model with the weight of ten decisions. Bits never change their sign, and the order
 * of pairs without similar decisions is preserved.
 */
export function withDecisions(model: MatchModel, decided: readonly DecidedPair[]): MatchModel {
  if (decided.length === 0) return model;
  const rows = decided.map(({ similarities }) => [
    1,
    ...model.aspects.map(({ aspect, bits }) => Math.LN2 * bitsAt(bits, similarities[aspect] ?? Number.NaN)),
  ]);
  const start = model.priorBits * Math.LN2;
  const factors = [0, ...model.aspects.map(() => 1)];
  const believed = [...factors];
  const beliefs = factors.map(
    (_, index) => BELIEF * (1 + rows.reduce((sum, row) => sum + Math.abs(row[index]!), 0) / rows.length),
  );
  const odds = rows.map((row) => start + row.reduce((sum, value, index) => sum + value * factors[index]!, 0));
  for (let step = 0; step < STEPS; step++) {
    let most = 0;
    for (const [index, belief] of beliefs.entries()) {
      let slope = belief * (believed[index]! - factors[index]!);
      let curve = belief;
      for (const [at, row] of rows.entries()) {
        const probability = 1 / (1 + Math.exp(-odds[at]!));
        slope += row[index]! * ((decided[at]!.same ? 1 : 0) - probability);
        // upper bound of the second derivative, so that a step never overshoots
        curve += row[index]! ** 2 / 4;
      }
      const next = index === 0 ? factors[0]! + slope / curve : Math.max(0, factors[index]! + slope / curve);
      const change = next - factors[index]!;
      factors[index] = next;
      for (const [at, row] of rows.entries()) odds[at]! += change * row[index]!;
      most = Math.max(most, Math.abs(change));
    }
    if (most < SETTLED) break;
  }
  return {
    ...model,
    priorBits: model.priorBits + factors[0]! / Math.LN2,
    aspects: model.aspects.map((aspect, index) => ({
      ...aspect,
      bits: aspect.bits.map((bit) => bit * factors[index + 1]!),
    })),
    learned: { ...model.learned, decisions: model.learned.decisions + decided.length },
  };
}
