import { LOCK_NOT_AVAILABLE, sqlState } from '../../../platform/database.ts';
import { EstateError, requireText } from '../../../platform/errors.ts';
import { command, commandWith } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { differingMembers, rowEvent } from '../../kernel/events/row-changes.ts';
import {
  Calculation,
  type CalculationFormula,
  type CalculationRow,
  CalculationRun,
} from '../../kernel/formulas/calculations.model.ts';
import { peerTypes, type ReadFormula } from '../../kernel/formulas/calculations.plan.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { loadMetamodel, METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import {
  deleteRows,
  findRows,
  insertRow,
  lockRow,
  requireRow,
  updateRow,
} from '../../kernel/resources/rows.ts';
import { columnsBefore, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { metamodelBusy } from '../metamodel/changes/changes.run.ts';
import { activationErrors, checkCalculation } from './calculations.check.ts';
import { readCalculation } from './calculations.list.ts';
import { recomputeOrEnqueue } from './recalculate.type.ts';

type CalculationInput = Partial<
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
    const values = { execution_order: 0, is_active: false, ...trimmed(input), created_by: ctx.caller.userId };
    const row = await insertRow(work.sql, Calculation, values);
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
    const changed = differingMembers(before, trimmed(input));
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
  await commandWith(ctx, { changesMetamodel: true }, async (work) => {
    const before = await locked(work, id);
    await deleteRows(work.sql, Calculation, (query) => query.where({ id: before.id }));
    if (before.is_active) await reloadMetamodel(work);
    emitCalculation(work, before, null);
  }).catch(refuseBusy);
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
    // Emitted after the events of the cards, so that an undo starts with the formula.
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

/** Changes one formula under the exclusive metamodel lock: active formulas are part of the metamodel. */
async function change(
  ctx: Ctx,
  id: string,
  act: (work: Work, before: CalculationRow) => Promise<void>,
): Promise<JsonText> {
  return await commandWith(ctx, { changesMetamodel: true }, async (work) => {
    const before = await locked(work, id);
    await act(work, before);
    return await readCalculation(work.sql, work.metamodel, before.id);
  }).catch(refuseBusy);
}

function refuseBusy(error: unknown): never {
  throw sqlState(error) === LOCK_NOT_AVAILABLE ? metamodelBusy(error) : error;
}

const locked = (work: Work, id: string): Promise<CalculationRow> =>
  requireRow(work.sql, Calculation, 'calculation', { id: id.toLowerCase() });

function checkInput(ctx: Ctx, input: CalculationInput): void {
  requirePermission(ctx.caller, 'admin.metamodel');
  if (input.name !== undefined) requireText(input.name, 'name');
}

function trimmed(input: CalculationInput): CalculationInput {
  return input.name === undefined ? input : { ...input, name: input.name.trim() };
}

/** The columns that determine whether and what a formula computes. */
const computing = ['is_active', 'target_type_key', 'target_field_key', 'formula', 'execution_order'];

/**
 * Restores a formula. If it is active, its field is recomputed, because its values may have been edited or computed by
 * another text meanwhile.
 */
export async function undoCalculation(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const { id, event_type } = event;
  const values: Partial<CalculationRow> = columnsBefore(event);
  const row = await lockRow(sql, Calculation, { id });
  const wanted = { ...row, ...values, id } as CalculationRow;
  if (wanted.is_active && event_type !== 'calculation.created') {
    const error = await activationError(work, wanted);
    if (error) return { code: error.code, message: error.message };
  }
  if (event_type === 'calculation.deleted') {
    if (row) return { code: 'changed', message: 'The formula exists again.' };
    const restored = await insertRow(sql, Calculation, { id, ...values });
    await insertRow(sql, CalculationRun, { calculation_id: id });
    await reloadMetamodel(work);
    if (restored.is_active) await recomputeOrEnqueue(work, ctx, restored);
    // Emitted after the events of the cards, so that an undo starts with the formula.
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
  const changed = differingMembers(row, values);
  if (Object.keys(changed).length === 0) return null;
  const after = await updateRow(sql, Calculation, { id }, changed);
  await reloadMetamodel(work);
  if (after.is_active && computing.some((column) => column in changed)) {
    await recomputeOrEnqueue(work, ctx, after);
  }
  emitCalculation(work, row, after);
  return null;
}

/** Why a formula cannot be active together with the others: `field_calculated` or `calculation_cycle`. */
async function activationError(
  { sql, metamodel }: Work,
  row: CalculationRow,
): Promise<EstateError | undefined> {
  const others = await findRows(sql, Calculation, (query) =>
    query.where({ is_active: true }).whereNot({ id: row.id }),
  );
  return activationErrors(metamodel, [row], others).get(row.id);
}

/**
 * Checks that a formula can be active together with the others: no other formula computes its field, there is no cycle,
 * and the caller may see costs if the formula reads or writes costs, because even an error reveals something about a
 * value.
 * @throws EstateError `field_calculated`, `calculation_cycle`, `forbidden`, `validation_failed`.
 */
async function requireActivable(work: Work, ctx: Ctx, row: CalculationRow): Promise<void> {
  const { metamodel } = work;
  const read = checkCalculation(metamodel, row);
  if (!may(ctx.caller, 'costs.view') && touchesCosts(metamodel, row, read)) {
    const message = 'An active formula that writes or reads costs needs the permission costs.view.';
    throw new EstateError('forbidden', message, { extra: { permission: 'costs.view' } });
  }
  const error = await activationError(work, row);
  if (error) throw error;
}

/** Whether a formula computes a cost or reads costs. */
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

/** Emits the event of a written formula; the default type follows from the kind of write. */
export function emitCalculation(
  work: Work,
  before: CalculationRow | null,
  after: CalculationRow | null,
  event_type?: EventType,
): void {
  const { id, name, target_type_key, target_field_key } = (after ?? before)!;
  const event = rowEvent('calculation', before, after, { id, name, target_type_key, target_field_key });
  work.emit(event_type ? { ...event, event_type } : event);
}

/** Reloads the metamodel, which includes active formulas, after a formula was written. */
export async function reloadMetamodel(work: Work): Promise<void> {
  work.metamodel = await loadMetamodel(work.sql);
  work.raise(METAMODEL_TOPIC);
}
