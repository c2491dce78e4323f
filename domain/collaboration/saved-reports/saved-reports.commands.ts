import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../../platform/errors.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import { checkedShares, mayEditShared, requireSharedEdit, type SharedAccess } from '../../access/shares.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import { sharedFilter, sharedKindConditions, visibleShared } from '../../kernel/lists/lists.shared.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { may, OBSERVER, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, removeRow } from '../../kernel/resources/items.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, optional, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { Share } from '../views/bookmarks.input.ts';
import { SavedReport, type SavedReportRow, savedReportTypes, Thumbnail } from './saved-reports.model.ts';
import { keepSeen } from './saved-reports.seen.ts';

const sharedWithMe = (ctx: Ctx): Fragment => fragment`(s.visibility = 'shared'
  and s.shared_with \\? ${ctx.caller.userId}::text)`;

/** The saved reports that the caller sees, over the alias `s`: own and public ones, and those shared with the caller. */
export const visibleSavedReports = (ctx: Ctx): Condition => visibleShared(ctx, 's', sharedWithMe(ctx));

/** The users with whom it is shared, over the alias `u`; only the owner sees the others. */
const shares = (item: string, order: string) => (ctx: Ctx) =>
  fragment`(select coalesce(json_agg(${embed(item)} order by ${embed(order)}), '[]')
    from jsonb_array_elements_text(s.shared_with) i(id) join users u on u.id::text = i.id
    where ${embed(mine(ctx))} or u.id = ${ctx.caller.userId}::uuid)`;

/** The picture; one that may show costs is visible to the owner and to callers with `costs.view`. */
const thumbnail = (ctx: Ctx): string | Fragment =>
  may(ctx.caller, 'costs.view')
    ? 's.thumbnail'
    : fragment`case when s.owner_id = ${ctx.caller.userId}::uuid
      or not s.thumbnail_with_costs then s.thumbnail end`;

const mine = (ctx: Ctx) => fragment`s.owner_id = ${ctx.caller.userId}::uuid`;

/** Whether the caller may change the saved report of an alias. */
export const mayEditSavedReport = (ctx: Ctx, alias: string): Fragment =>
  mayEditShared(ctx, alias, fragment`${embed(alias)}.editors \\? ${ctx.caller.userId}::text`);

/** The caller's own saved reports, those shared with the caller, and public ones. */
export const savedReportList = defineList({
  name: 'saved_reports',
  from: 'saved_reports s join users o on o.id = s.owner_id',
  id: 's.id',
  sorts: {
    name: { sql: 'lower(s.name)', type: 'text', filled: true },
    ...columnSorts('s', SavedReport, 'created_at', 'updated_at'),
  },
  defaultSort: 'name',
  search: 'fold(s.name)',
  filters: {
    filter: sharedFilter,
    report_type: [Choice(savedReportTypes, 'Only reports of this type'), 's.report_type = ?'],
  },
  members: {
    ...columnMembers('s', SavedReport.shown),
    owner_name: 'o.display_name',
    thumbnail,
    shared_with: shares('u.id', 'u.id'),
    shared_with_users: shares(
      `json_build_object('id', u.id, 'display_name', u.display_name, 'can_edit', s.editors \\? u.id::text)`,
      'lower(u.display_name), u.id',
    ),
    is_owner: mine,
    can_edit: (ctx) => mayEditSavedReport(ctx, 's'),
  },
  where: (ctx, { filter }) => [
    visibleSavedReports(ctx),
    ...sharedKindConditions(ctx, 's', sharedWithMe(ctx), filter),
  ],
});

/** One saved report as the caller sees it, or undefined. */
async function savedReportText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  return await findItem(sql, listFor(ctx, savedReportList), id, [visibleSavedReports(ctx)]);
}

/** Characters of JSON that a configuration may have. */
export const CONFIG_LENGTH = 100_000;

/** What a user may write of a saved report; `report_type` only at the creation. */
export const savedReportInput = optional({
  name: SavedReport.columns.name,
  config: SavedReport.columns.config,
  description: SavedReport.columns.description,
  thumbnail: Nullable(
    Type.String({
      ...Thumbnail,
      description: 'A small picture as a `data:` address: PNG, JPEG or WebP',
    }),
  ),
  visibility: SavedReport.columns.visibility,
  shared_with: Nullable(
    Type.Array(Type.Union([Uuid, Share]), {
      maxItems: 200,
      description:
        'Users who see it while its visibility is `shared`: ids, or objects that say whether the user may also change it',
    }),
  ),
});
type SavedReportInput = StaticOf<typeof savedReportInput> & {
  report_type?: SavedReportRow['report_type'];
};

/** Saves the parameters and the presentation of a report. @throws EstateError `forbidden`, `validation_failed`. */
export async function createSavedReport(ctx: Ctx, input: SavedReportInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'saved_reports.create');
  return await command(ctx, async (work) => {
    const owner = ctx.caller.userId!;
    const values = await checked(work, input, owner);
    const row = await createRow(work, SavedReport, { ...values, owner_id: owner }, savedReportEvent);
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
 * Changes a saved report. Users with whom it is shared for editing may not change its sharing, nor its picture, which is
 * shown to the owner whatever it shows.
 * @throws EstateError `not_found` where the caller does not see it, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function patchSavedReport(ctx: Ctx, id: string, input: SavedReportInput): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row: before, text, access } = await locked(work, ctx, id);
    requireSharedEdit(access, input, ['visibility', 'shared_with', 'thumbnail'], 'saved report');
    checkIfMatch(ctx, text);
    await changeRow(work, SavedReport, before, await checked(work, input, before.owner_id), savedReportEvent);
    if (input.config) await keepSeen(work.sql, before, { owner: ctx.caller.userId! });
    return (await savedReportText(work.sql, ctx, id))!;
  });
}

/** Deletes an own saved report. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteSavedReport(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { row, text, access } = await locked(work, ctx, id);
    if (!access.is_owner) throw new EstateError('forbidden', 'Only the owner may delete the saved report.');
    checkIfMatch(ctx, text);
    await removeRow(work, SavedReport, row, savedReportEvent);
  });
}

async function locked(work: Work, ctx: Ctx, id: string) {
  const row = await lockRow(work.sql, SavedReport, { id: id.toLowerCase() });
  const text = row && (await savedReportText(work.sql, ctx, id));
  if (!row || !text) throw notFound('saved report', id);
  return { row, text, access: JSON.parse(text) as SharedAccess };
}

/** A write of a saved report, which only its owner may read because it may be private. */
function savedReportEvent(before: SavedReportRow | null, after: SavedReportRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  return { ...rowEvent('saved_report', before, after, { id, name }), recipient_id: owner_id };
}

/** The event of a saved report that has followed a rename. */
export function renamedEvent(before: SavedReportRow | null, after: SavedReportRow | null): EventDraft {
  const event = savedReportEvent(before, after);
  return { ...event, data: { ...event.data, is_rename: true } };
}

/** The checked input as it is stored. */
async function checked(
  work: Work,
  { shared_with, ...input }: SavedReportInput,
  owner: string,
): Promise<Partial<SavedReportRow>> {
  const values: Partial<SavedReportRow> = { ...input };
  if (input.name !== undefined) values.name = requireText(input.name, 'name');
  if (input.config && JSON.stringify(input.config).length > CONFIG_LENGTH) {
    throw invalidField('config', 'too_long', `must not be longer than ${CONFIG_LENGTH} characters of JSON`);
  }
  if (input.thumbnail) values.thumbnail_with_costs = await seesAnyCosts(work, owner);
  if (shared_with !== undefined) {
    const shares = await checkedShares(work, shared_with ?? [], { id: owner, called: 'the owner' });
    values.shared_with = shares.map(({ user_id }) => user_id);
    values.editors = shares.filter(({ can_edit }) => can_edit).map(({ user_id }) => user_id);
  }
  return values;
}

/** Whether the user sees the costs of any card. The scopes of the present token do not count: the picture may be older. */
async function seesAnyCosts({ sql }: Work, userId: string): Promise<boolean> {
  const [rights] = await query(sql).rows<{ permissions: Record<string, boolean>; holds_role: boolean }>`
       select r.permissions, exists (select from stakeholders h where h.user_id = u.id and h.role <> ${OBSERVER}) as holds_role
     from users u join roles r on r.key = u.role where u.id = ${userId}::uuid`;
  const held = permissionSet(rights!.permissions);
  return rights!.holds_role || held === '*' || held.has('costs.view');
}
