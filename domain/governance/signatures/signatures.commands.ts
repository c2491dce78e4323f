import { invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { contentHash } from './signatures.hash.ts';
import { lockRecord, recordText, storeRecord } from './signatures.records.ts';
import { askedToSign, pendingOf, requireAction, signature } from './signatures.rules.ts';
import { requirePerson, requireSignatories } from './signatures.signatories.ts';
import { askAbout, settleAsked, withdrawTodos } from './signatures.todos.ts';
import type { SignedKind, SignedRow, SigningEvent } from './signatures.types.ts';

export interface SignatureRequest {
  user_ids: string[];
  /** What those who are asked are told. */
  message?: string | null;
}

/**
 * Asks people to sign a draft: it is in review until all of them have signed, and each gets a to-do.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function requestSignatures<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
  { user_ids, message = null }: SignatureRequest,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  const signatories = askedToSign(user_ids);
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    requireAction('request', before.status);
    await requireSignatories(work, kind.rights, user_ids, (n) => `user_ids.${n}`);
    const recipients = signatories.map(({ user_id }) => user_id);
    const values = { status: 'in_review', signatories, rejection: null };
    const after = await storeRecord(
      work,
      kind,
      before,
      values,
      told(kind, 'signatures_requested', { recipients, message: message?.trim() || null }),
    );
    await askAbout(work, kind, after, 'signature', recipients);
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

/**
 * Signs as one of those who were asked; with the last signature the document is signed and stays as it is.
 * @throws EstateError `forbidden`, `not_signatory`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function signRecord<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.sign);
  const userId = requirePerson(ctx.caller.userId);
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    const hash = contentHash(kind.contentOf(before));
    const values = signature(before, { userId, at: new Date().toISOString(), hash });
    await storeRecord(
      work,
      kind,
      before,
      values,
      told(kind, 'signed', {
        signed_by: userId,
        signed_hash: hash,
        recipients: values.status === 'signed' ? involved(before) : [],
      }),
    );
    await settleAsked(work, kind, before.id, 'signature', { of: userId, how: 'done' });
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

/**
 * Takes the request to sign back: a draft again, and no longer signed by anybody.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function recallSignatures<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    requireAction('recall', before.status);
    const recipients = before.signatories.map(({ user_id }) => user_id);
    const event = told(kind, 'signatures_recalled', { recipients });
    await storeRecord(work, kind, before, { status: 'draft', signatories: [] }, event);
    await withdrawTodos(work, kind, before.id);
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

/**
 * Rejects as one of those who are still to sign: a draft again, with the reason.
 * @throws EstateError `forbidden`, `not_signatory`, `not_found`, `precondition_failed`, `wrong_state`,
 * `validation_failed` without a comment.
 */
export async function rejectRecord<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
  { comment }: { comment: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.sign);
  const user_id = requirePerson(ctx.caller.userId);
  const reason = comment.trim();
  if (reason === '') throw invalidField('comment', 'required', 'must say why');
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    requireAction('reject', before.status);
    pendingOf(before.signatories, user_id);
    const rejection = { user_id, comment: reason, rejected_at: new Date().toISOString() };
    const event = told(kind, 'rejected', { recipients: involved(before), comment: reason });
    await storeRecord(work, kind, before, { status: 'draft', signatories: [], rejection }, event);
    await withdrawTodos(work, kind, before.id);
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

/** Its author, and those who were asked to sign. */
const involved = ({ created_by, signatories }: SignedRow): string[] => [
  ...new Set([created_by, ...signatories.map(({ user_id }) => user_id)].filter((id) => id !== null)),
];

const told = ({ key }: Pick<SignedKind, 'key'>, event: SigningEvent, more: Record<string, unknown>) => ({
  type: `${key}.${event}` as const,
  more,
});
