import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { CalculationFormula, CalculationRow } from '../../kernel/formulas/calculations.model.ts';
import {
  compileFormula,
  cycleMessage,
  type Formula,
  type ReadFormula,
  readFormula,
  sortByDependency,
} from '../../kernel/formulas/calculations.plan.ts';
import { FormulaError } from '../../kernel/formulas/formula.values.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { LEVEL_FIELD } from '../cards/rules/capability.ts';

/**
 * Checks a formula and its target field against the current metamodel.
 * @throws EstateError `validation_failed`.
 */
export function checkCalculation(metamodel: Metamodel, row: CalculationFormula): ReadFormula {
  const type = metamodel.cardTypes.get(row.target_type_key);
  if (!type) {
    throw invalidField('target_type_key', 'unknown_type', `there is no card type "${row.target_type_key}"`);
  }
  const field = type.fields.get(row.target_field_key);
  if (!field) throw invalidField('target_field_key', 'unknown_attribute', 'is no attribute of this type');
  if ((field.readonly && !field.calculated) || field.key === LEVEL_FIELD) {
    throw invalidField('target_field_key', 'readonly', 'is set by the service alone');
  }
  try {
    return readFormula(row.formula, row.target_type_key, metamodel);
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    throw invalidField('formula', 'bad_formula', error.message);
  }
}

/**
 * Why formulas cannot be active together with the `active` ones, by id: another formula computes the field (of several
 * added ones, the first can be active), or there is a cycle.
 * @returns `field_calculated` or `calculation_cycle` for each.
 */
export function activationErrors(
  metamodel: Metamodel,
  added: readonly CalculationRow[],
  active: readonly CalculationRow[],
): Map<string, EstateError> {
  const errors = new Map<string, EstateError>();
  const targetOf = (row: CalculationRow) => `${row.target_type_key}.${row.target_field_key}`;
  const computing = new Map(active.map((row) => [targetOf(row), row]));
  const fitting = new Set<string>();
  const formulas = active.flatMap((row) => validFormula(row, metamodel));
  for (const row of added) {
    const other = computing.get(targetOf(row));
    if (other) {
      const message = `The formula "${other.name}" computes ${targetOf(row)}.`;
      const extra = { calculation_id: other.id };
      errors.set(row.id, new EstateError('field_calculated', message, { extra }));
      continue;
    }
    computing.set(targetOf(row), row);
    fitting.add(row.id);
    formulas.push(...validFormula(row, metamodel));
  }
  for (const cycle of sortByDependency(formulas, metamodel).cycles) {
    for (const { id } of cycle.formulas.filter((formula) => fitting.has(formula.id))) {
      const extra = { cycle: cycle.path };
      errors.set(id, new EstateError('calculation_cycle', cycleMessage(cycle), { extra }));
    }
  }
  return errors;
}

/** The compiled formula; none if it is no longer valid in the metamodel, and so is not run. */
function validFormula(row: CalculationRow, metamodel: Metamodel): Formula[] {
  try {
    return [compileFormula(row, metamodel)];
  } catch (error) {
    if (error instanceof FormulaError) return [];
    throw error;
  }
}
