import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { Calculation, type CalculationFormula } from '../../kernel/formulas/calculations.model.ts';
import { readFormula } from '../../kernel/formulas/calculations.plan.ts';
import { FormulaError, type FormulaValue } from '../../kernel/formulas/formula.values.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requirePermission, seesCosts } from '../../kernel/permissions/policy.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { FilledText } from '../../kernel/shapes.ts';
import { loadCards } from '../cards/cards.load.ts';
import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { checkCalculation } from './calculations.check.ts';
import {
  computeValue,
  namesFor,
  noRelatedValues,
  type OwnCard,
  readSurroundings,
} from './calculations.inputs.ts';

/** The formulas, of one card type where `type_key` is given. */
export const calculationList = defineList({
  name: 'calculations',
  from: 'calculations k left join calculation_runs n on n.calculation_id = k.id',
  id: 'k.id',
  sorts: {
    ...columnSorts('k', Calculation, 'execution_order'),
    name: { sql: 'lower(k.name)', type: 'text', filled: true },
    ...columnSorts('k', Calculation, 'created_at'),
  },
  filters: {
    type_key: [FilledText(100, 'Only those of this card type'), 'k.target_type_key = ?'],
  },
  defaultSort: 'execution_order',
  search: `fold(k.name || ' ' || k.target_type_key || ' ' || k.target_field_key)`,
  members: {
    ...columnMembers('k', Calculation),
    // The formula, which `withReasons` replaces with the reason.
    broken_reason: `json_build_object('id', k.id, 'target_type_key', k.target_type_key,
      'target_field_key', k.target_field_key, 'formula', k.formula, 'execution_order', k.execution_order)`,
    last_error: 'n.last_error',
    last_run_at: 'utc(n.last_run_at)',
  },
  complete: ({ metamodel }, formulas) => withReasons(metamodel, formulas),
});

/** The formulas with the reason why they are no longer valid in the metamodel, or null. */
function withReasons(metamodel: Metamodel, formulas: { broken_reason?: CalculationFormula }[]): object[] {
  return formulas.map((formula) =>
    formula.broken_reason
      ? { ...formula, broken_reason: brokenReason(metamodel, formula.broken_reason) }
      : formula,
  );
}

function brokenReason(metamodel: Metamodel, row: CalculationFormula): string | null {
  try {
    checkCalculation(metamodel, row);
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    const [failure] = error.errors ?? [];
    return failure?.field === 'target_field_key'
      ? `${row.target_type_key}.${row.target_field_key} ${failure.message}`
      : (failure?.message ?? error.message);
  }
  return metamodel.calculations.broken.get(row.id) ?? null;
}

/** One formula. @throws EstateError `not_found`. */
export async function readCalculation(sql: Sql, metamodel: Metamodel, id: string): Promise<JsonText> {
  const text = await readItem(sql, calculationList, 'calculation', id);
  return JSON.stringify(withReasons(metamodel, [JSON.parse(text)])[0]);
}

/** The fields that active formulas compute, by card type. */
export async function readCalculatedFields(ctx: Ctx): Promise<Record<string, string[]>> {
  const rows = await query(ctx.db).rows<{ type: string; fields: string[] }>`select target_type_key as type,
    array_agg(distinct target_field_key order by target_field_key) as fields
     from calculations where is_active group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ type, fields }) => [type, fields]));
}

/**
 * Computes a formula for one card without writing. Callers who may not see costs get a result computed without costs.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed` for a card of another type.
 */
export async function tryCalculation(ctx: Ctx, id: string, cardId: string) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { metamodel } = ctx;
  const [row] = await findRows(ctx.db, Calculation, (query) => query.where({ id }));
  if (!row) throw notFound('calculation', id);
  const visible = visibleCards(ctx);
  const [seen] = await query(ctx.db).column<string>`select c.id from cards c
    where c.id = ${cardId}::uuid and (${embed(visible)})`;
  if (!seen) throw invisibleCardError(ctx, notFound('card', cardId));
  const card = (await loadCards({ sql: ctx.db, metamodel }, ctx, [seen])).get(seen);
  if (!card) throw notFound('card', cardId);
  if (card.type !== row.target_type_key) {
    throw invalidField('card_id', 'wrong_type', `must be a card of the type ${row.target_type_key}`);
  }
  const type = metamodel.cardTypes.get(card.type)!;
  const field = type.fields.get(row.target_field_key);
  const answer = (error: string | null, value: FormulaValue = null) => ({
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

/** Whether a formula is valid for cards of a type. @throws EstateError `forbidden`, `validation_failed`. */
export function checkFormula(ctx: Ctx, formula: string, typeKey: string) {
  requirePermission(ctx.caller, 'admin.metamodel');
  const type = ctx.metamodel.cardTypes.get(typeKey);
  if (!type) throw invalidField('target_type_key', 'unknown_type', `there is no card type "${typeKey}"`);
  try {
    const read = readFormula(formula, typeKey, ctx.metamodel);
    const empty: OwnCard = {
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
    const { value = null } = computeValue(read.lines, namesFor(read, type, empty, noRelatedValues));
    return { valid: true, error: null, preview_result: value };
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { valid: false, error: error.message, preview_result: null };
  }
}
