import { FormulaError } from '../../kernel/formulas/formula.error.ts';
import { evaluateFormula, type FormulaNames } from '../../kernel/formulas/formula.evaluate.ts';
import type { FormulaLine } from '../../kernel/formulas/formula.parse.ts';
import type { FormulaValue } from '../../kernel/formulas/formula.values.ts';
import type { CompiledField } from '../../kernel/metamodel/metamodel.compile.ts';
import { checkValue } from '../cards/rules/values.ts';

/** A value for the field, or why there is none. */
export type Computed = { value: FormulaValue; error?: undefined } | { value?: undefined; error: string };

/** The most items of a list that is a result; a field has no more options. */
const MAX_ITEMS = 1_000;

/** Runs a formula; without a field, any value that an answer can hold will do. Null stands for "no value". */
export function computeValue(lines: FormulaLine[], names: FormulaNames, field?: CompiledField): Computed {
  try {
    return { value: fitting(evaluateFormula(lines, names), field) };
  } catch (error) {
    if (error instanceof FormulaError) return { error: error.message };
    throw error;
  }
}

function fitting(value: FormulaValue, field: CompiledField | undefined): FormulaValue {
  if (value === null || value === '') return null;
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    // a list may hold itself many times over: it is not walked into
    if (value.length > MAX_ITEMS || value.some((item) => item !== null && typeof item === 'object')) {
      throw new FormulaError('The result is no single value and no short list of them.');
    }
  } else if (typeof value === 'object') throw new FormulaError('The result is no single value.');
  // PostgreSQL has no text with it
  if (typeof value === 'string' && value.includes('\u0000'))
    throw new FormulaError('The text has a NUL in it.');
  const fault = field && checkValue(field, field.key, value);
  if (fault) throw new FormulaError(`The result does not fit the field: it ${fault.message}.`);
  return value;
}
