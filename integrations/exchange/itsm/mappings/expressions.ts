import { computeValue } from '../../../../domain/inventory/calculations/calculations.inputs.ts';
import { type FormulaLine, parseFormula } from '../../../../domain/kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../../../domain/kernel/formulas/formula.values.ts';
import type { TransformContext } from '../engine/fields.ts';

/** Maximum number of cached formulas; a mapping has fewer. */
const MAX_CACHED = 200;

/**
 * Evaluates the formulas of transforms over `value`, in the language of calculated fields and within its limits: formulas
 * have no loops, read only the value, and return one value or a short list.
 */
export function createEvaluate(): TransformContext['evaluate'] {
  const cache = new Map<string, FormulaLine[]>();
  return (formula, value) => {
    let lines = cache.get(formula);
    if (!lines) {
      lines = parseFormula(formula);
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(formula, lines);
    }
    const computed = computeValue(lines, { value });
    if (computed.error !== undefined) throw new FormulaError(computed.error);
    return computed.value;
  };
}
