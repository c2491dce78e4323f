import { fragment } from '../../../platform/database.ts';
import { Calculation, type CalculationFormula } from '../../kernel/formulas/calculations.model.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { References } from '../metamodel/usage/references.ts';
import { emitCalculation } from './calculations.commands.ts';

/** Formulas, with the field that they compute. */
export const calculationConsumers = defineConsumers<
  Pick<CalculationFormula, 'target_type_key' | 'target_field_key' | 'formula'>
>({
  tables: ['calculations'],
  rows: (ctx) => fragment`select k.id::text, 'calculation' as kind, k.name, k.created_by as owner_id,
      (select r.last_run_at from calculation_runs r where r.calculation_id = k.id) as last_used_at,
      '/api/v1/calculations/' || k.id as link, ${may(ctx.caller, 'admin.metamodel')}::boolean as is_visible,
      jsonb_build_object('target_type_key', k.target_type_key, 'target_field_key', k.target_field_key,
        'formula', k.formula) as content
    from calculations k`,
  references(content, metamodel) {
    const { target_type_key: type, target_field_key, formula } = content;
    const found = new References(metamodel);
    found.type(type);
    content.target_field_key = found.field(target_field_key, [type]);
    content.formula = found.formula(formula, type, target_field_key);
    return found.all;
  },
  async write(work, id, { target_field_key, formula }) {
    const row = await lockRow(work.sql, Calculation, { id });
    if (!row) return;
    const values = { target_field_key, formula };
    emitCalculation(work, row, await updateRow(work.sql, Calculation, { id }, values));
  },
});
