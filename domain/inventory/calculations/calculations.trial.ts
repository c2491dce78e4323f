import { queryRows } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { Calculation } from '../../kernel/formulas/calculations.model.ts';
import { readFormula } from '../../kernel/formulas/calculations.plan.ts';
import { FormulaError } from '../../kernel/formulas/formula.error.ts';
import type { FormulaValue } from '../../kernel/formulas/formula.values.ts';
import { may, requirePermission, seesCosts } from '../../kernel/permissions/policy.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { loadCards } from '../cards/cards.load.ts';
import { unseenCard, visibleCards } from '../cards/cards.visible.ts';
import { namesFor, noSurroundings, readSurroundings } from './calculations.inputs.ts';
import { computeValue } from './calculations.value.ts';

export interface TrialAnswer {
  success: boolean;
  error: string | null;
  computed_value: FormulaValue;
  card_name: string;
}

/**
 * Computes a formula for one card and writes nothing. For callers who may not see costs it is computed without them.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed` for a card of another type.
 */
export async function tryCalculation(ctx: Ctx, id: string, cardId: string): Promise<TrialAnswer> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { metamodel } = ctx;
  const [row] = await findRows(ctx.db, Calculation, (query) => query.where({ id }));
  if (!row) throw notFound('calculation', id);
  const visible = visibleCards(ctx);
  const [seen] = await queryRows<{ id: string }>(
    ctx.db,
    `select c.id from cards c where c.id = ?::uuid and (${visible.sql})`,
    [cardId, ...visible.bindings],
  );
  if (!seen) throw unseenCard(ctx, notFound('card', cardId));
  const card = (await loadCards({ sql: ctx.db, metamodel }, ctx, [seen.id])).get(seen.id);
  if (!card) throw notFound('card', cardId);
  if (card.type !== row.target_type_key) {
    throw invalidField('card_id', 'wrong_type', `must be a card of the type ${row.target_type_key}`);
  }
  const type = metamodel.cardTypes.get(card.type)!;
  const field = type.fields.get(row.target_field_key);
  const answer = (error: string | null, value: FormulaValue = null): TrialAnswer => ({
    success: error === null,
    error,
    computed_value: value,
    card_name: card.name,
  });
  try {
    const read = readFormula(row.formula, card.type, metamodel);
    const ownCosts = seesCosts(ctx, card);
    const around = await readSurroundings(ctx.db, metamodel, read, [card.id], {
      visible,
      otherCosts: may(ctx.caller, 'costs.view'),
    });
    const { value, error } = computeValue(read.lines, namesFor(read, type, card, around, ownCosts), field);
    return error === undefined ? answer(null, value) : answer(error);
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return answer(error.message);
  }
}

export interface FormulaCheck {
  valid: boolean;
  error: string | null;
  /** The value for a card without any values; null also where that fails. */
  preview_result: FormulaValue;
}

/** Whether a formula is valid for cards of a type. @throws EstateError `forbidden`, `validation_failed`. */
export function checkFormula(ctx: Ctx, formula: string, typeKey: string): FormulaCheck {
  requirePermission(ctx.caller, 'admin.metamodel');
  const type = ctx.metamodel.cardTypes.get(typeKey);
  if (!type) throw invalidField('target_type_key', 'unknown_type', `there is no card type "${typeKey}"`);
  try {
    const read = readFormula(formula, typeKey, ctx.metamodel);
    const empty = {
      id: '',
      name: '',
      alias: null,
      description: null,
      subtype: null,
      external_id: null,
      status: 'ACTIVE',
      lifecycle: null,
      attributes: {},
    };
    const { value = null } = computeValue(read.lines, namesFor(read, type, empty, noSurroundings));
    return { valid: true, error: null, preview_result: value };
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { valid: false, error: error.message, preview_result: null };
  }
}
