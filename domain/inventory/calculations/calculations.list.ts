import Type from 'typebox';
import { queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { Calculation, type CalculationFormula } from '../../kernel/formulas/calculations.model.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { StaticOf } from '../../kernel/shapes.ts';
import { checkCalculation } from './calculations.check.ts';

export const calculationSorts: Record<string, SortField> = {
  execution_order: { sql: 'k.execution_order', type: 'numeric' },
  name: { sql: 'lower(k.name)', type: 'text', filled: true },
  created_at: { sql: 'k.created_at', type: 'timestamptz', immutable: true },
};
export const calculationFilters = {
  type_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only those of this card type' }),
  ),
};

const calculationList: ListSpec = {
  name: 'calculations',
  from: 'calculations k left join calculation_runs n on n.calculation_id = k.id',
  id: 'k.id',
  idType: 'uuid',
  sorts: calculationSorts,
  defaultSort: 'execution_order',
  defaultDir: 'asc',
  search: `fold(k.name || ' ' || k.target_type_key || ' ' || k.target_field_key)`,
  members: {
    ...columnMembers('k', Calculation),
    // the formula, which `withReasons` replaces by the reason
    broken_reason: `json_build_object('id', k.id, 'target_type_key', k.target_type_key,
      'target_field_key', k.target_field_key, 'formula', k.formula, 'execution_order', k.execution_order)`,
    last_error: 'n.last_error',
    last_run_at: 'utc(n.last_run_at)',
  },
};

/** The formulas, of one card type where `type_key` is given. */
export async function listCalculations(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof calculationFilters>,
): Promise<JsonText> {
  const where: Condition[] =
    params.type_key === undefined ? [] : [{ sql: 'k.target_type_key = ?', bindings: [params.type_key] }];
  const list = JSON.parse(
    await runList(ctx.db, calculationList, where, params, { owner: ctx.caller.userId }),
  );
  return JSON.stringify({ ...list, items: withReasons(ctx.metamodel, list.items) });
}

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
    const [fault] = error.errors ?? [];
    return fault?.field === 'target_field_key'
      ? `${row.target_type_key}.${row.target_field_key} ${fault.message}`
      : (fault?.message ?? error.message);
  }
  return metamodel.calculations.broken.get(row.id) ?? null;
}

/** One formula. @throws EstateError `not_found`. */
export async function readCalculation(sql: Sql, metamodel: Metamodel, id: string): Promise<JsonText> {
  const item = projection(calculationList.members, undefined);
  const [calculation] = await queryRows<{ item: string }>(
    sql,
    `select ${item.sql}::text as item from ${calculationList.from} where k.id = ?`,
    [...item.bindings, id],
  );
  if (!calculation) throw notFound('calculation', id);
  return JSON.stringify(withReasons(metamodel, [JSON.parse(calculation.item)])[0]);
}

/** The fields that active formulas compute, by card type. */
export async function readCalculatedFields(ctx: Ctx): Promise<Record<string, string[]>> {
  const rows = await queryRows<{ type: string; fields: string[] }>(
    ctx.db,
    `select target_type_key as type, array_agg(distinct target_field_key order by target_field_key) as fields
     from calculations where is_active group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ type, fields }) => [type, fields]));
}
