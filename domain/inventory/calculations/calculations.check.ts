import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import {
  Calculation,
  type CalculationFormula,
  type CalculationRow,
} from '../../kernel/formulas/calculations.model.ts';
import {
  arrange,
  cycleMessage,
  type Formula,
  peerTypes,
  type ReadFormula,
  readFormula,
} from '../../kernel/formulas/calculations.plan.ts';
import { FormulaError } from '../../kernel/formulas/formula.error.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { LEVEL_FIELD } from '../cards/rules/capability.ts';

/**
 * Checks what a formula is and where its result goes, by the metamodel in force.
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

/** The active formula other than this one that computes its field. */
export async function findActive(
  { sql }: Work,
  { id, target_type_key, target_field_key }: CalculationFormula,
): Promise<CalculationRow | undefined> {
  const [found] = await findRows(sql, Calculation, (query) =>
    query.where({ target_type_key, target_field_key, is_active: true }).whereNot({ id }),
  );
  return found;
}

/**
 * Checks that a formula can be active with the others: its field has no other formula, there is no cycle, and the caller may
 * see costs where the formula writes or reads them, because even an error reveals something about a value.
 * @throws EstateError `field_calculated`, `calculation_cycle`, `forbidden`, `validation_failed`.
 */
export async function requireActivable(work: Work, ctx: Ctx, row: CalculationFormula): Promise<void> {
  const { metamodel } = work;
  const read = checkCalculation(metamodel, row);
  const { id, target_type_key: type, target_field_key: field } = row;
  if (!may(ctx.caller, 'costs.view') && touchesCosts(metamodel, row, read)) throw forbidden('costs.view');
  const taken = await findActive(work, row);
  if (taken) {
    throw new EstateError('field_calculated', `The formula "${taken.name}" computes ${type}.${field}.`, {
      extra: { calculation_id: taken.id },
    });
  }
  const added: Formula = { id, type, field, order: row.execution_order, local: false, ...read };
  const others = metamodel.calculations.formulas.filter((other) => other.id !== id);
  const { cycles } = arrange([...others, added], metamodel);
  if (cycles[0]) {
    throw new EstateError('calculation_cycle', cycleMessage(cycles[0]), { extra: { cycle: cycles[0].path } });
  }
}

/** Whether a formula computes a cost, or anything from costs. */
function touchesCosts(metamodel: Metamodel, row: CalculationFormula, { reads }: ReadFormula): boolean {
  const own = metamodel.cardTypes.get(row.target_type_key)!;
  if (own.costKeys.includes(row.target_field_key)) return true;
  const keys = [...reads.relations].flatMap((key) => [
    ...metamodel.relationTypes.get(key)!.costKeys,
    ...peerTypes(metamodel, key, own.key).flatMap((type) => metamodel.cardTypes.get(type)!.costKeys),
  ]);
  return (
    own.costKeys.some((key) => reads.data.has(key) || (reads.children && reads.members.has(key))) ||
    keys.some((key) => reads.members.has(key))
  );
}
