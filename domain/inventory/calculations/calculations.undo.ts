import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import {
  Calculation,
  type CalculationRow,
  CalculationRun,
} from '../../kernel/formulas/calculations.model.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { columnsBefore, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { findActive } from './calculations.check.ts';
import { emitCalculation, reloadMetamodel } from './calculations.events.ts';
import { recomputeOrEnqueue } from './recalculate.type.ts';

/** The columns that decide what a formula computes, and whether. */
const computing = ['is_active', 'target_type_key', 'target_field_key', 'formula', 'execution_order'];

/**
 * Restores a formula. An active one then computes its field again, because the values may have been written meanwhile or
 * computed by another text.
 */
export async function undoCalculation(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const { id, event_type } = event;
  const values: Partial<CalculationRow> = columnsBefore(event);
  const row = await lockRow(sql, Calculation, { id });
  const wanted = { ...row, ...values, id } as CalculationRow;
  if (wanted.is_active && event_type !== 'calculation.created') {
    const other = await findActive(work, wanted);
    if (other)
      return { code: 'field_calculated', message: `The formula "${other.name}" computes its field.` };
  }
  if (event_type === 'calculation.deleted') {
    if (row) return { code: 'changed', message: 'The formula exists again.' };
    const restored = await insertRow(sql, Calculation, { id, ...values });
    await insertRow(sql, CalculationRun, { calculation_id: id });
    await reloadMetamodel(work);
    if (restored.is_active) await recomputeOrEnqueue(work, ctx, restored);
    // after the events of the cards, so that an undo starts with the formula
    emitCalculation(work, null, restored);
    return null;
  }
  if (!row) return { code: 'missing', message: 'The formula does not exist.' };
  if (event_type === 'calculation.created') {
    await deleteRows(sql, Calculation, (query) => query.where({ id }));
    await reloadMetamodel(work);
    emitCalculation(work, row, null);
    return null;
  }
  const changed = differing(row, values);
  if (Object.keys(changed).length === 0) return null;
  const after = await updateRow(sql, Calculation, { id }, changed);
  await reloadMetamodel(work);
  if (after.is_active && computing.some((column) => column in changed)) {
    await recomputeOrEnqueue(work, ctx, after);
  }
  emitCalculation(work, row, after);
  return null;
}
