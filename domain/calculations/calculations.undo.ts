import type { UndoneEvent, UndoRefusal, UndoSpec } from '../batches/undo.types.ts';
import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { differing, insertRow, lockRow, updateRow } from '../events/stored-rows.ts';
import { CALCULATIONS, takeUp, tellCalculation } from './calculations.told.ts';

/** Brings a formula back to what it was; values that it has computed have events of their own. */
async function undo(work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const values = Object.fromEntries(
    Object.entries(event.data.changes).map(([column, change]) => [column, change.old]),
  );
  const row = await lockRow(sql, CALCULATIONS, { id: event.id });
  if (event.event_type === 'calculation.deleted') {
    if (row) return { code: 'changed', message: 'The formula is there again.' };
    const back = await insertRow(sql, CALCULATIONS, { id: event.id, ...values });
    await sql('calculation_runs').insert({ calculation_id: event.id });
    tellCalculation(work, null, back);
  } else if (!row) return { code: 'missing', message: 'The formula is no longer there.' };
  else if (event.event_type === 'calculation.created') {
    await sql(CALCULATIONS).where({ id: event.id }).delete();
    tellCalculation(work, row, null);
  } else {
    const changed = differing(row, values);
    if (Object.keys(changed).length > 0) {
      const after = await updateRow(sql, CALCULATIONS, { column: 'id', value: event.id }, changed);
      tellCalculation(work, row, after);
    }
  }
  await takeUp(work);
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
