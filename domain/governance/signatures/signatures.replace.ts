import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { followGone } from './signatures.gone.ts';
import { lockRecord, recordText, storeRecord } from './signatures.records.ts';
import { requireAction, withSignatory } from './signatures.rules.ts';
import { requireSignatories } from './signatures.signatories.ts';
import { askAbout, settleAsked } from './signatures.todos.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

export interface Replacement {
  /** Who was asked and has not signed, also where the account is gone. */
  user_id: string;
  /** Who is asked instead. */
  new_user_id: string;
  /** What the latter is told. */
  message?: string | null;
}

/**
 * Asks somebody else in the place of one who has not signed yet; the signatures that were given stay.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function replaceSignatory<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
  { message = null, ...input }: Replacement,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  const [left, asked] = [input.user_id.toLowerCase(), input.new_user_id.toLowerCase()];
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    requireAction('replace', before.status);
    const signatories = withSignatory(before.signatories, left, asked);
    await requireSignatories(work, kind.rights, [asked], () => 'new_user_id');
    const after = await storeRecord(
      work,
      kind,
      before,
      { signatories },
      {
        type: `${kind.key}.signatory_replaced`,
        more: { recipients: [asked], replaced: [left], message: message?.trim() || null },
      },
    );
    await settleAsked(work, kind, before.id, 'signature', { of: left, how: 'withdrawn' });
    await askAbout(work, kind, after, 'signature', [asked]);
    await followGone(work, ctx, kind, after);
    return await recordText(work.sql, ctx, kind, before.id);
  });
}
