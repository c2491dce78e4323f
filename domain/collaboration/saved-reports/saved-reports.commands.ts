import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import { checkedPeople } from '../../access/shares.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { OBSERVER, requirePermission } from '../../kernel/permissions/policy.ts';
import { savedReportEvent } from './saved-reports.events.ts';
import { savedReportText } from './saved-reports.list.ts';

/** Characters of JSON that a configuration may have. */
export const CONFIG_LENGTH = 100_000;

export interface SavedReportInput {
  name?: string;
  description?: string | null;
  /** Only at the creation. */
  report_type?: string;
  config?: Record<string, unknown>;
  /** A picture as a `data:` address. */
  thumbnail?: string | null;
  visibility?: 'private' | 'shared' | 'public';
  /** Ids of users, who see it while its visibility is `shared`. */
  shared_with?: string[] | null;
}

/** Saves how a report is asked for and shown. @throws EstateError `forbidden`, `validation_failed`. */
export async function createSavedReport(ctx: Ctx, input: SavedReportInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'saved_reports.create');
  return await command(ctx, async (work) => {
    const owner = ctx.caller.userId!;
    const values = await checked(work, input, owner);
    const defaults = { visibility: 'private', shared_with: [] };
    const row = await insertRow(work.sql, 'saved_reports', { ...defaults, ...values, owner_id: owner });
    work.emit(savedReportEvent(null, row));
    return (await savedReportText(work.sql, ctx, row.id as string))!;
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
    const changed = differing(before, await checked(work, input, before.owner_id as string));
    if (Object.keys(changed).length > 0) {
      const key = { column: 'id', value: before.id as string };
      work.emit(savedReportEvent(before, await updateRow(work.sql, 'saved_reports', key, changed)));
    }
    return (await savedReportText(work.sql, ctx, id))!;
  });
}

/** Deletes an own saved report. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteSavedReport(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { row, text } = await lockedOwn(work, ctx, id);
    checkIfMatch(ctx, text);
    await work
      .sql('saved_reports')
      .where({ id: row.id as string })
      .delete();
    work.emit(savedReportEvent(row, null));
  });
}

async function lockedOwn(work: Work, ctx: Ctx, id: string): Promise<{ row: StoredRow; text: JsonText }> {
  const row = await lockRow(work.sql, 'saved_reports', { id: id.toLowerCase() });
  const text = row && (await savedReportText(work.sql, ctx, id));
  if (!row || !text) throw notFound('saved report', id);
  if (row.owner_id !== ctx.caller.userId) {
    throw new EstateError('forbidden', 'Only the owner may change or delete the saved report.');
  }
  return { row, text };
}

/** The input as it is stored. */
async function checked(work: Work, input: SavedReportInput, owner: string): Promise<StoredRow> {
  const values: StoredRow = { ...input };
  if (input.name !== undefined) {
    values.name = input.name.trim();
    if (values.name === '') throw invalidField('name', 'required', 'must not be blank');
  }
  if (input.config && JSON.stringify(input.config).length > CONFIG_LENGTH) {
    throw invalidField('config', 'too_long', `must not be longer than ${CONFIG_LENGTH} characters of JSON`);
  }
  if (input.thumbnail) values.thumbnail_with_costs = await seesAnyCosts(work, owner);
  if (input.shared_with !== undefined) {
    const sharedBy = { id: owner, called: 'the owner' } as const;
    const people = input.shared_with ?? [];
    values.shared_with = await checkedPeople(work, people, sharedBy, (n) => `shared_with.${n}`);
  }
  return values;
}

/** Whether the user sees the costs of any card. A picture may come from another login, so its token's scopes do not count. */
async function seesAnyCosts({ sql }: Work, userId: string): Promise<boolean> {
  const { rows } = await sql.raw(
    `select r.permissions, exists (select from stakeholders h where h.user_id = u.id and h.role <> ?) as holds_role
     from users u join roles r on r.key = u.role where u.id = ?::uuid`,
    [OBSERVER, userId],
  );
  const held = permissionSet(rows[0].permissions);
  return rows[0].holds_role || held === '*' || held.has('costs.view');
}
