import { LOCK_NOT_AVAILABLE, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import {
  Calculation,
  type CalculationFormula,
  type CalculationRow,
  CalculationRun,
} from '../../kernel/formulas/calculations.model.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { metamodelBusy } from '../metamodel/changes/changes.run.ts';
import { checkCalculation, requireActivable } from './calculations.check.ts';
import { emitCalculation, reloadMetamodel } from './calculations.events.ts';
import { readCalculation } from './calculations.list.ts';
import { recomputeOrEnqueue } from './recalculate.type.ts';

export type CalculationInput = Partial<
  Pick<
    CalculationRow,
    'name' | 'description' | 'target_type_key' | 'target_field_key' | 'formula' | 'execution_order'
  >
>;

/** Stores a formula, which is not active yet. @throws EstateError `forbidden`, `validation_failed`. */
export async function createCalculation(ctx: Ctx, input: CalculationInput): Promise<JsonText> {
  checkInput(ctx, input);
  return await command(ctx, async (work) => {
    checkCalculation(work.metamodel, { id: '', execution_order: 0, ...input } as CalculationFormula);
    const row = await insertRow(work.sql, Calculation, {
      execution_order: 0,
      is_active: false,
      ...trimmed(input),
      created_by: ctx.caller.userId,
    });
    await insertRow(work.sql, CalculationRun, { calculation_id: row.id });
    emitCalculation(work, null, row);
    return await readCalculation(work.sql, work.metamodel, row.id);
  });
}

/**
 * Changes a formula. An active one is checked as for an activation, and its field is computed again for all cards.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `calculation_cycle`,
 * `field_calculated`, `metamodel_busy`.
 */
export async function patchCalculation(ctx: Ctx, id: string, input: CalculationInput): Promise<JsonText> {
  checkInput(ctx, input);
  return await change(ctx, id, async (work, before) => {
    if (ctx.ifMatch) checkIfMatch(ctx, await readCalculation(work.sql, work.metamodel, before.id));
    const changed = differing(before, trimmed(input));
    if (Object.keys(changed).length === 0) return;
    const after = await updateRow(work.sql, Calculation, { id: before.id }, changed);
    const computes = ['target_type_key', 'target_field_key', 'formula', 'execution_order'].some(
      (column) => column in changed,
    );
    if (before.is_active && computes) await requireActivable(work, ctx, after);
    else if (computes) checkCalculation(work.metamodel, after);
    if (before.is_active && computes) await compute(work, ctx, after);
    emitCalculation(work, before, after);
  });
}

/** Deletes a formula; the values that it computed remain. @throws EstateError `forbidden`, `not_found`. */
export async function deleteCalculation(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.metamodel');
  await command(
    ctx,
    async (work) => {
      const before = await locked(work, id);
      await deleteRows(work.sql, Calculation, (query) => query.where({ id: before.id }));
      if (before.is_active) await reloadMetamodel(work);
      emitCalculation(work, before, null);
    },
    { changesMetamodel: true },
  ).catch(refuseBusy);
}

/**
 * Activates a formula and computes its field: in the request, or by a job where there are many cards.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`, `calculation_cycle`, `field_calculated`,
 * `validation_failed`, `metamodel_busy`.
 */
export async function activateCalculation(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  return await change(ctx, id, async (work, before) => {
    if (before.is_active) throw new EstateError('wrong_state', 'The calculation is active already.');
    await requireActivable(work, ctx, before);
    const after = await updateRow(work.sql, Calculation, { id: before.id }, { is_active: true });
    await compute(work, ctx, after);
    // after the events of the cards, so that an undo starts with the formula
    emitCalculation(work, before, after, 'calculation.activated');
  });
}

/** Deactivates a formula; its values remain, and can be edited again. @throws EstateError as for an activation. */
export async function deactivateCalculation(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.metamodel');
  return await change(ctx, id, async (work, before) => {
    if (!before.is_active) throw new EstateError('wrong_state', 'The calculation is not active.');
    const after = await updateRow(work.sql, Calculation, { id: before.id }, { is_active: false });
    await reloadMetamodel(work);
    emitCalculation(work, before, after, 'calculation.deactivated');
  });
}

async function compute(work: Work, ctx: Ctx, row: CalculationRow): Promise<void> {
  await reloadMetamodel(work);
  await recomputeOrEnqueue(work, ctx, row);
}

/** Changes one formula while nobody else writes: active formulas are part of the metamodel. */
async function change(
  ctx: Ctx,
  id: string,
  act: (work: Work, before: CalculationRow) => Promise<void>,
): Promise<JsonText> {
  return await command(
    ctx,
    async (work) => {
      const before = await locked(work, id);
      await act(work, before);
      return await readCalculation(work.sql, work.metamodel, before.id);
    },
    { changesMetamodel: true },
  ).catch(refuseBusy);
}

function refuseBusy(error: unknown): never {
  throw sqlState(error) === LOCK_NOT_AVAILABLE ? metamodelBusy(error) : error;
}

async function locked(work: Work, id: string): Promise<CalculationRow> {
  const row = await lockRow(work.sql, Calculation, { id: id.toLowerCase() });
  if (!row) throw notFound('calculation', id);
  return row;
}

function checkInput(ctx: Ctx, input: CalculationInput): void {
  requirePermission(ctx.caller, 'admin.metamodel');
  if (input.name !== undefined && input.name.trim() === '') {
    throw invalidField('name', 'required', 'must not be blank');
  }
}

function trimmed(input: CalculationInput): CalculationInput {
  return input.name === undefined ? input : { ...input, name: input.name.trim() };
}
