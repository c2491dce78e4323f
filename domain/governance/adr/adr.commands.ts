import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows } from '../../kernel/resources/rows.ts';
import { insertRecord, lockRecord, recordText, storeRecord } from '../signatures/signatures.records.ts';
import { reviseRecord } from '../signatures/signatures.revise.ts';
import { ownOperation, requireAction } from '../signatures/signatures.rules.ts';
import { type AdrInput, checkedContent } from './adr.content.ts';
import { adrKind, copiedContent } from './adr.kind.ts';
import { copyLinks, removeLinks } from './adr.links.ts';
import { Adr, type AdrRow } from './adr.model.ts';
import { nextNumber } from './adr.numbers.ts';

/** Creates a decision as a draft with the next number. @throws EstateError `forbidden`, `validation_failed`. */
export async function createAdr(ctx: Ctx, input: AdrInput): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  const values = checkedContent(input);
  return await command(ctx, async (work) => {
    const { id } = await createAdrWithin(work, ctx, values);
    return await recordText(work.sql, ctx, adrKind, id);
  });
}

/** The same within a command; the content is checked already. */
export async function createAdrWithin(work: Work, ctx: Ctx, content: StoredRow): Promise<AdrRow> {
  return await insertRecord(work, ctx, adrKind, { ...content, number: await nextNumber(work.sql) });
}

/** One decision. @throws EstateError `forbidden`, `not_found`. */
export async function readAdr(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.view);
  return await recordText(ctx.db, ctx, adrKind, id);
}

/**
 * Changes the content of a draft.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `document_signed`, `wrong_state` for one in review,
 * `use_operation` for another status, `validation_failed`.
 */
export async function patchAdr(
  ctx: Ctx,
  id: string,
  { status, ...input }: AdrInput & { status?: string | null },
): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  const values = checkedContent(input);
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, adrKind, id);
    requireAction('edit', before.status);
    if (status !== undefined && status !== before.status) throw ownOperation();
    const changed = differing(before, values);
    if (Object.keys(changed).length > 0) await storeRecord(work, adrKind, before, changed);
    return await recordText(work.sql, ctx, adrKind, before.id);
  });
}

/**
 * Deletes a draft: the caller's own one, or with `adr.delete` any.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state` for one that is not a draft.
 */
export async function deleteAdr(ctx: Ctx, id: string): Promise<void> {
  if (!may(ctx.caller, 'adr.delete')) requirePermission(ctx.caller, adrKind.rights.manage);
  await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, adrKind, id);
    const own = row.created_by !== null && row.created_by === ctx.caller.userId;
    if (!may(ctx.caller, 'adr.delete') && !own) throw forbidden('adr.delete');
    if (row.status !== 'draft') {
      throw new EstateError('wrong_state', 'Only drafts can be deleted.', { extra: { state: row.status } });
    }
    await removeLinks(work, row);
    await deleteRows(work.sql, Adr, (query) => query.where({ id: row.id }));
    work.emit(await adrKind.event(row, null));
  });
}

/** Copies a decision, in any state, to a draft with its own number. @throws EstateError `forbidden`, `not_found`. */
export async function duplicateAdr(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, adrKind.rights.manage);
  return await command(ctx, async (work) => {
    const [from] = await findRows(work.sql, Adr, (query) => query.where({ id }).forShare());
    if (!from) throw notFound(adrKind.entity, id);
    const made = await createAdrWithin(work, ctx, copiedContent(from));
    await copyLinks(work, ctx, from, made);
    return await recordText(work.sql, ctx, adrKind, made.id);
  });
}

/** Creates the next revision of a signed decision, with the same number and links. @throws EstateError as {@link reviseRecord}. */
export async function reviseAdr(ctx: Ctx, id: string): Promise<JsonText> {
  return await reviseRecord(
    ctx,
    adrKind,
    id,
    (row) => ({ ...copiedContent(row), number: row.number }),
    async (work, from, to) => await copyLinks(work, ctx, from, to),
  );
}
