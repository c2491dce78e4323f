import { LOCK_NOT_AVAILABLE, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { CalculationRow } from '../../kernel/formulas/calculations.plan.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { metamodelBusy } from '../metamodel/changes/changes.run.ts';
import { checkCalculation, requireActivable } from './calculations.check.ts';
import { readCalculation } from './calculations.queries.ts';
import { CALCULATIONS, takeUp, tellCalculation } from './calculations.told.ts';
import { recomputeOrEnqueue } from './recalculate.type.ts';

export interface CalculationInput {
  name?: string;
  description?: string | null;
  target_type_key?: string;
  target_field_key?: string;
  formula?: string;
  execution_order?: number;
}

/** Stores a formula, which is not active yet. @throws EstateError `forbidden`, `validation_failed`. */
export async function createCalculation(ctx: Ctx, input: CalculationInput): Promise<JsonText> {
  checkInput(ctx, input);
  return await command(ctx, async (work) => {
    checkCalculation(work.metamodel, { id: '', execution_order: 0, ...input } as CalculationRow);
    const row = await insertRow(work.sql, CALCULATIONS, {
      execution_order: 0,
      is_active: false,
      ...stored(input),
      created_by: ctx.caller.userId,
    });
    await work.sql('calculation_runs').insert({ calculation_id: row.id });
    tellCalculation(work, null, row);
    return await readCalculation(work.sql, work.metamodel, row.id as string);
  });
}

/**
 * Changes a formula. One that is active is checked as when it is activated, and its cards are computed anew.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `calculation_cycle`,
 * `field_calculated`, `metamodel_busy`.
 */
export async function patchCalculation(ctx: Ctx, id: string, input: CalculationInput): Promise<JsonText> {
  checkInput(ctx, input);
  return await change(ctx, id, async (work, before) => {
    if (ctx.ifMatch) checkIfMatch(ctx, await readCalculation(work.sql, work.metamodel, before.id as string));
    const changed = differing(before, stored(input));
    if (Object.keys(changed).length === 0) return;
    const after = await updateRow(work.sql, CALCULATIONS, key(before), changed);
    const computes = ['target_type_key', 'target_field_key', 'formula', 'execution_order'].some(
      (column) => column in changed,
    );
    if (before.is_active && computes) await requireActivable(work, ctx, after as never);
    else if (computes) checkCalculation(work.metamodel, after as never);
    if (before.is_active && computes) await putIntoForce(work, ctx, after);
    tellCalculation(work, before, after);
  });
}

/** Deletes a formula; the values that it has computed stay. @throws EstateError `forbidden`, `not_found`. */
export async function deleteCalculation(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.metamodel');
  await command(
    ctx,
    async (work) => {
      const before = await locked(work, id);
      await work
        .sql(CALCULATIONS)
        .where({ id: before.id as string })
        .delete();
      if (before.is_active) await takeUp(work);
      tellCalculation(work, before, null);
    },
    { changesMetamodel: true },
  ).catch(told);
}

/**
 * Puts a formula into force and computes its field: at once, or by a job where there are many cards.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`, `calculation_cycle`, `field_calculated`,
 * `validation_failed`, `metamodel_busy`.
 */
export async function activateCalculation(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  return await change(ctx, id, async (work, before) => {
    if (before.is_active) throw new EstateError('wrong_state', 'The calculation is active already.');
    await requireActivable(work, ctx, before as never);
    const after = await updateRow(work.sql, CALCULATIONS, key(before), { is_active: true });
    await putIntoForce(work, ctx, after);
    // behind the cards' events, so that undoing begins with it
    tellCalculation(work, before, after, 'calculation.activated');
  });
}

/** Puts a formula out of force; values stay, and may be written again. @throws EstateError as for activating. */
export async function deactivateCalculation(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  return await change(ctx, id, async (work, before) => {
    if (!before.is_active) throw new EstateError('wrong_state', 'The calculation is not active.');
    const after = await updateRow(work.sql, CALCULATIONS, key(before), { is_active: false });
    await takeUp(work);
    tellCalculation(work, before, after, 'calculation.deactivated');
  });
}

const key = (row: StoredRow) => ({ column: 'id', value: row.id as string });

async function putIntoForce(work: Work, ctx: Ctx, row: StoredRow): Promise<void> {
  await takeUp(work);
  await recomputeOrEnqueue(work, ctx, row as never);
}

/** Runs a change of one formula alone beside other writes, as active formulas are a part of the metamodel. */
async function change(
  ctx: Ctx,
  id: string,
  act: (work: Work, before: StoredRow) => Promise<void>,
): Promise<JsonText> {
  return await command(
    ctx,
    async (work) => {
      const before = await locked(work, id);
      await act(work, before);
      return await readCalculation(work.sql, work.metamodel, before.id as string);
    },
    { changesMetamodel: true },
  ).catch(told);
}

function told(error: unknown): never {
  throw sqlState(error) === LOCK_NOT_AVAILABLE ? metamodelBusy(error) : error;
}

async function locked(work: Work, id: string): Promise<StoredRow> {
  const row = await lockRow(work.sql, CALCULATIONS, { id: id.toLowerCase() });
  if (!row) throw notFound('calculation', id);
  return row;
}

function checkInput(ctx: Ctx, input: CalculationInput): void {
  requirePermission(ctx.caller, 'admin.metamodel');
  if (input.name !== undefined && input.name.trim() === '') {
    throw invalidField('name', 'required', 'must not be blank');
  }
}

function stored(input: CalculationInput): StoredRow {
  return input.name === undefined ? { ...input } : { ...input, name: input.name.trim() };
}
