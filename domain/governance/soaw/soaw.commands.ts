import { invalidField } from '../../../platform/errors.ts';
import { loadCards, lockCards } from '../../inventory/cards/cards.load.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { reviseRecord } from '../signatures/signatures.commands.ts';
import {
  insertRecord,
  lockRecord,
  recordText,
  storeRecord,
  withdrawTodos,
} from '../signatures/signatures.records.ts';
import { requireAction, statusChangeError } from '../signatures/signatures.rules.ts';
import type { SignedStatus } from '../signatures/signatures.types.ts';
import { checkedSoaw, completeInfo, type SoawInput } from './soaw.content.ts';
import { copiedContent, soawKind } from './soaw.kind.ts';
import { INITIATIVE, Soaw } from './soaw.model.ts';

/** Creates a statement as a draft. @throws EstateError `forbidden`, `use_operation`, `validation_failed`. */
export async function createSoaw(
  ctx: Ctx,
  { status = 'draft', ...input }: SoawInput & { status?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, soawKind.rights.manage);
  if (status !== 'draft') throw statusChangeError();
  const values = checkedSoaw(input);
  return await command(ctx, async (work) => {
    await requireInitiative(work, ctx, values.initiative_id);
    const { id } = await insertRecord(work, ctx, soawKind, { document_info: completeInfo({}), ...values });
    return await recordText(work.sql, ctx, soawKind, id);
  });
}

/**
 * Changes the content of a statement, and its status between draft and approved.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `document_signed`, `wrong_state` for one in review,
 * `use_operation` for other states, `validation_failed`.
 */
export async function patchSoaw(
  ctx: Ctx,
  id: string,
  { status, ...input }: SoawInput & { status?: string | null },
): Promise<JsonText> {
  requirePermission(ctx.caller, soawKind.rights.manage);
  const values = checkedSoaw(input);
  return await command(ctx, async (work) => {
    // cards are locked before the rows that refer to them, to avoid deadlocks
    await requireInitiative(work, ctx, values.initiative_id);
    const before = await lockRecord(work, ctx, soawKind, id);
    requireAction('edit', before.status);
    const changed = differingMembers(before, { ...values, ...statusChange(before.status, status) });
    if (Object.keys(changed).length > 0) await storeRecord(work, soawKind, before, changed);
    return await recordText(work.sql, ctx, soawKind, before.id);
  });
}

/** Users change the status between draft and approved; signing changes it otherwise. @throws EstateError `use_operation`. */
function statusChange(present: SignedStatus, given: string | null | undefined): { status?: SignedStatus } {
  if (given === undefined || given === present) return {};
  if (given !== 'draft' && given !== 'approved') throw statusChangeError();
  return { status: given };
}

/** Deletes a statement in any state. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteSoaw(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, soawKind.rights.manage);
  await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, soawKind, id);
    await withdrawTodos(work, soawKind, row.id);
    await deleteRows(work.sql, Soaw, (query) => query.where({ id: row.id }));
    work.emit(await soawKind.event(row, null));
  });
}

/** Creates the next revision of a signed statement. @throws EstateError as {@link reviseRecord}. */
export async function reviseSoaw(ctx: Ctx, id: string): Promise<JsonText> {
  return await reviseRecord(ctx, soawKind, id, copiedContent);
}

/** @throws EstateError `validation_failed` unless it is a visible initiative. */
async function requireInitiative(work: Work, ctx: Ctx, id: string | null | undefined): Promise<void> {
  if (!id) return;
  await lockCards(work, [id], 'share');
  const card = (await loadCards(work, ctx, [id])).get(id);
  if (!card) throw invalidField('initiative_id', 'unknown_card', 'is not a card');
  if (card.type !== INITIATIVE) {
    throw invalidField(
      'initiative_id',
      'wrong_type',
      `is a card of the type ${card.type}, not ${INITIATIVE}`,
    );
  }
}
