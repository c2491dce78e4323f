import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { findItem, runList } from '../../kernel/lists/lists.run.ts';
import { sharedFilter, sharedKindConditions, visibleShared } from '../../kernel/lists/lists.shared.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf } from '../../kernel/shapes.ts';
import { SavedReport, savedReportTypes } from './saved-reports.model.ts';

export const savedReportSorts: Record<string, SortField> = {
  name: { sql: 'lower(s.name)', type: 'text', filled: true },
  created_at: { sql: 's.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 's.updated_at', type: 'timestamptz', filled: true },
};
export const savedReportFilters = {
  filter: sharedFilter,
  report_type: Type.Optional(Choice(savedReportTypes, 'Only reports of this type')),
};

const sharedWithMe = (ctx: Ctx): Fragment => ({
  sql: `(s.visibility = 'shared' and s.shared_with \\? ?::text)`,
  bindings: [ctx.caller.userId],
});

/** The saved reports that the caller sees, over the alias `s`: own and public ones, and those shared with the caller. */
const visibleSavedReports = (ctx: Ctx): Condition => visibleShared(ctx, 's', sharedWithMe(ctx));

/** The users with whom it is shared, over the alias `u`; only the owner sees the others. */
const shares = (item: string, order: string) =>
  `(select coalesce(json_agg(${item} order by ${order}), '[]')
    from jsonb_array_elements_text(s.shared_with) i(id) join users u on u.id::text = i.id
    where s.owner_id = ?::uuid or u.id = ?::uuid)`;

/** The picture; one that may show costs is visible to the owner and to callers with `costs.view`. */
const thumbnail = (ctx: Ctx): string | Fragment =>
  may(ctx.caller, 'costs.view')
    ? 's.thumbnail'
    : {
        sql: 'case when s.owner_id = ?::uuid or not s.thumbnail_with_costs then s.thumbnail end',
        bindings: [ctx.caller.userId],
      };

const { thumbnail_with_costs: _withCosts, ...savedReportColumns } = columnMembers('s', SavedReport);

function savedReportList(ctx: Ctx): ListSpec {
  const me = ctx.caller.userId;
  return {
    name: 'saved_reports',
    from: 'saved_reports s join users o on o.id = s.owner_id',
    id: 's.id',
    sorts: savedReportSorts,
    defaultSort: 'name',
    search: 'fold(s.name)',
    members: {
      ...savedReportColumns,
      owner_name: 'o.display_name',
      thumbnail: thumbnail(ctx),
      shared_with: { sql: shares('u.id', 'u.id'), bindings: [me, me] },
      shared_with_users: {
        sql: shares(
          `json_build_object('id', u.id, 'display_name', u.display_name)`,
          'lower(u.display_name), u.id',
        ),
        bindings: [me, me],
      },
      is_owner: { sql: 's.owner_id = ?::uuid', bindings: [me] },
    },
  };
}

/** The caller's own saved reports, those shared with the caller, and public ones. */
export async function listSavedReports(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof savedReportFilters>,
): Promise<JsonText> {
  const where = [
    visibleSavedReports(ctx),
    ...sharedKindConditions(ctx, 's', sharedWithMe(ctx), params.filter),
  ];
  if (params.report_type) where.push({ sql: 's.report_type = ?', bindings: [params.report_type] });
  return await runList(ctx.db, savedReportList(ctx), where, params, { owner: ctx.caller.userId });
}

/** One saved report as the caller sees it, or undefined. */
export async function savedReportText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  return await findItem(sql, savedReportList(ctx), id, [visibleSavedReports(ctx)]);
}
