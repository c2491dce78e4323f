import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { CALCULATIONS, takeUp, tellCalculation } from './calculations.told.ts';
import { recomputeOrEnqueue } from './recalculate.type.ts';

/** What a formula's values depend on. */
const computing = ['is_active', 'target_type_key', 'target_field_key', 'formula', 'execution_order'];

/**
 * Brings a formula back to what it was. One that is in force then computes its field anew: values that were written
 * meanwhile, or that another text has computed, are not its own.
 */
async function undo(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const values = Object.fromEntries(
    Object.entries(event.data.changes).map(([column, change]) => [column, change.old]),
  );
  const row = await lockRow(sql, CALCULATIONS, { id: event.id });
  const wanted = { ...row, ...values };
  if (wanted.is_active && event.event_type !== 'calculation.created') {
    const taken = await sql(CALCULATIONS)
      .where({ is_active: true, target_type_key: wanted.target_type_key as string })
      .where({ target_field_key: wanted.target_field_key as string })
      .whereNot({ id: event.id })
      .first('name');
    if (taken)
      return { code: 'field_calculated', message: `The formula "${taken.name}" computes its field.` };
  }
  if (event.event_type === 'calculation.deleted') {
    if (row) return { code: 'changed', message: 'The formula is there again.' };
    const back = await insertRow(sql, CALCULATIONS, { id: event.id, ...values });
    await sql('calculation_runs').insert({ calculation_id: event.id });
    await takeUp(work);
    if (back.is_active) await recomputeOrEnqueue(work, ctx, back as never);
    // behind the cards' events, so that undoing begins with it
    tellCalculation(work, null, back);
    return null;
  }
  if (!row) return { code: 'missing', message: 'The formula is no longer there.' };
  if (event.event_type === 'calculation.created') {
    await sql(CALCULATIONS).where({ id: event.id }).delete();
    await takeUp(work);
    tellCalculation(work, row, null);
    return null;
  }
  const changed = differing(row, values);
  if (Object.keys(changed).length === 0) return null;
  const after = await updateRow(sql, CALCULATIONS, { column: 'id', value: event.id }, changed);
  await takeUp(work);
  if (after.is_active && computing.some((column) => column in changed)) {
    await recomputeOrEnqueue(work, ctx, after as never);
  }
  tellCalculation(work, row, after);
  return null;
}

/** Formulas. */
export const calculationUndo: UndoSpec[] = [
  {
    entity: 'calculation',
    events: {
      created: ['calculation.created'],
      updated: ['calculation.updated', 'calculation.activated', 'calculation.deactivated'],
      deleted: ['calculation.deleted'],
    },
    changesMetamodel: true,
    undo,
  },
];
