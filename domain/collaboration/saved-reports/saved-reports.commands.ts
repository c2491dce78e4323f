import Type from 'typebox';
import { query } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import { checkShareUsers } from '../../access/shares.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differingMembers, type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { OBSERVER, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { Nullable, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { savedReportText } from './saved-reports.list.ts';
import { SavedReport, type SavedReportRow } from './saved-reports.model.ts';

/** Characters of JSON that a configuration may have. */
export const CONFIG_LENGTH = 100_000;

/** What a user may write of a saved report; `report_type` only at the creation. */
export const savedReportInput = {
  name: Type.Optional(SavedReport.columns.name),
  config: Type.Optional(SavedReport.columns.config),
  description: Type.Optional(SavedReport.columns.description),
  thumbnail: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 100_000,
        pattern: '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$',
        description: 'A small picture as a `data:` address: PNG, JPEG or WebP',
      }),
    ),
  ),
  visibility: Type.Optional(SavedReport.columns.visibility),
  shared_with: Type.Optional(
    Nullable(
      Type.Array(Uuid, { maxItems: 200, description: 'Users who see it while its visibility is `shared`' }),
    ),
  ),
};
export type SavedReportInput = StaticOf<typeof savedReportInput> & {
  report_type?: SavedReportRow['report_type'];
};

/** Saves the parameters and the presentation of a report. @throws EstateError `forbidden`, `validation_failed`. */
export async function createSavedReport(ctx: Ctx, input: SavedReportInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'saved_reports.create');
  return await command(ctx, async (work) => {
    const owner = ctx.caller.userId!;
    const values = await checked(work, input, owner);
    const row = await insertRow(work.sql, SavedReport, { ...values, owner_id: owner });
    work.emit(savedReportEvent(null, row));
    return (await savedReportText(work.sql, ctx, row.id))!;
  });
}

/** One saved report. @throws EstateError `not_found` where the caller does not see it. */
export async function readSavedReport(ctx: Ctx, id: string): Promise<JsonText> {
  const text = await savedReportText(ctx.db, ctx, id);
  if (!text) throw notFound('saved report', id);
  return text;
}

/**
 * Changes an own saved report.
 * @throws EstateError `not_found` where the caller does not see it, `forbidden` for another's, `precondition_failed`,
 * `validation_failed`.
 */
export async function patchSavedReport(ctx: Ctx, id: string, input: SavedReportInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row: before, text } = await lockedOwn(work, ctx, id);
    checkIfMatch(ctx, text);
    const changed = differingMembers(before, await checked(work, input, before.owner_id));
    if (Object.keys(changed).length > 0) {
      work.emit(savedReportEvent(before, await updateRow(work.sql, SavedReport, { id: before.id }, changed)));
    }
    return (await savedReportText(work.sql, ctx, id))!;
  });
}

/** Deletes an own saved report. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteSavedReport(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { row, text } = await lockedOwn(work, ctx, id);
    checkIfMatch(ctx, text);
    await deleteRows(work.sql, SavedReport, (query) => query.where({ id: row.id }));
    work.emit(savedReportEvent(row, null));
  });
}

async function lockedOwn(work: Work, ctx: Ctx, id: string): Promise<{ row: SavedReportRow; text: JsonText }> {
  const row = await lockRow(work.sql, SavedReport, { id: id.toLowerCase() });
  const text = row && (await savedReportText(work.sql, ctx, id));
  if (!row || !text) throw notFound('saved report', id);
  if (row.owner_id !== ctx.caller.userId) {
    throw new EstateError('forbidden', 'Only the owner may change or delete the saved report.');
  }
  return { row, text };
}

/** A write of a saved report, which only its owner may read because it may be private. */
function savedReportEvent(before: SavedReportRow | null, after: SavedReportRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `saved_report.${kind}`,
    recipient_id: owner_id,
    data: { id, name, changes: rowChanges(before, after) },
  };
}

/** The checked input as it is stored. */
async function checked(
  work: Work,
  { shared_with, ...input }: SavedReportInput,
  owner: string,
): Promise<Partial<SavedReportRow>> {
  const values: Partial<SavedReportRow> = { ...input };
  if (input.name !== undefined) {
    values.name = input.name.trim();
    if (values.name === '') throw invalidField('name', 'required', 'must not be blank');
  }
  if (input.config && JSON.stringify(input.config).length > CONFIG_LENGTH) {
    throw invalidField('config', 'too_long', `must not be longer than ${CONFIG_LENGTH} characters of JSON`);
  }
  if (input.thumbnail) values.thumbnail_with_costs = await seesAnyCosts(work, owner);
  if (shared_with !== undefined) {
    const sharedBy = { id: owner, called: 'the owner' } as const;
    values.shared_with = await checkShareUsers(work, shared_with ?? [], sharedBy, (n) => `shared_with.${n}`);
  }
  return values;
}

/** Whether the user sees the costs of any card. The scopes of the present token do not count: the picture may be older. */
async function seesAnyCosts({ sql }: Work, userId: string): Promise<boolean> {
  const [rights] = await query(sql).rows<{
    permissions: Record<string, boolean>;
    holds_role: boolean;
  }>`select r.permissions, exists (select from stakeholders h where h.user_id = u.id and h.role <> ${OBSERVER}) as holds_role
     from users u join roles r on r.key = u.role where u.id = ${userId}::uuid`;
  const held = permissionSet(rights!.permissions);
  return rights!.holds_role || held === '*' || held.has('costs.view');
}
