import { computeValue } from '../../../domain/inventory/calculations/calculations.inputs.ts';
import { type FormulaLine, parseFormula } from '../../../domain/kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../../domain/kernel/formulas/formula.values.ts';
import type { TransformContext } from '../engine/fields.ts';

/** So many formulas are kept read; a mapping has fewer. */
const KEPT = 200;

/**
 * Runs the formulas of transforms over `value`, in the language of calculated fields and within its limits: it has no
 * loops, reaches nothing but the value, and its result is one value or a short list.
 */
export function createEvaluate(): TransformContext['evaluate'] {
  const read = new Map<string, FormulaLine[]>();
  return (formula, value) => {
    let lines = read.get(formula);
    if (!lines) {
      lines = parseFormula(formula);
      if (read.size >= KEPT) read.clear();
      read.set(formula, lines);
    }
    const computed = computeValue(lines, { value });
    if (computed.error !== undefined) throw new FormulaError(computed.error);
    return computed.value;
  };
}
