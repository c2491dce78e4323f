import type { Sql } from '../../../platform/database.ts';
import { sharedWithCaller, visibleShares } from '../../access/shares.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { findItem, runList } from '../../kernel/lists/lists.run.ts';
import { type SharedKind, sharedKindConditions, visibleShared } from '../../kernel/lists/lists.shared.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { Bookmark } from './views.model.ts';

export const bookmarkSorts: Record<string, SortField> = {
  name: { sql: 'lower(b.name)', type: 'text', filled: true },
  created_at: { sql: 'b.created_at', type: 'timestamptz', immutable: true },
};

const shareOf = (ctx: Ctx): Fragment => sharedWithCaller(ctx, 'b.shared_with');

/** The bookmarks that the caller sees, over the alias `b`: own and public ones, and those shared with the caller. */
export function visibleBookmarks(ctx: Ctx): Condition {
  const share = shareOf(ctx);
  return visibleShared(ctx, 'b', { ...share, sql: `b.visibility = 'shared' and ${share.sql}` });
}

/** The owner sees all entries of `shared_with`; other users see their own. */
function bookmarkList(ctx: Ctx): ListSpec {
  const me = ctx.caller.userId;
  return {
    name: 'bookmarks',
    from: 'bookmarks b join users o on o.id = b.owner_id',
    id: 'b.id',
    sorts: bookmarkSorts,
    defaultSort: 'name',
    search: 'fold(b.name)',
    members: {
      ...columnMembers('b', Bookmark),
      owner_name: 'o.display_name',
      is_owner: { sql: 'b.owner_id = ?::uuid', bindings: [me] },
      can_edit: {
        sql: `(b.owner_id = ?::uuid or b.visibility <> 'private' and exists (select from jsonb_array_elements(b.shared_with) s
               where s->>'user_id' = ? and (s->>'can_edit')::boolean))`,
        bindings: [me, me],
      },
      shared_with: visibleShares(ctx, 'b.shared_with', 'b.owner_id'),
      odata_url: `case when b.odata_enabled then '/api/v1/bookmarks/' || b.id || '/odata' end`,
    },
  };
}

/** The caller's own bookmarks, those shared with the caller, and public ones. */
export async function listBookmarks(
  ctx: Ctx,
  params: ListParams & { filter?: SharedKind },
): Promise<JsonText> {
  const where = [visibleBookmarks(ctx), ...sharedKindConditions(ctx, 'b', shareOf(ctx), params.filter)];
  return await runList(ctx.db, bookmarkList(ctx), where, params, { owner: ctx.caller.userId });
}

/** One bookmark as the caller sees it, or undefined. */
export async function bookmarkText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  return await findItem(sql, bookmarkList(ctx), id, [visibleBookmarks(ctx)]);
}
