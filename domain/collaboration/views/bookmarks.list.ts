import type { Sql } from '../../../platform/database.ts';
import { sharedWithCaller, sharesSeen } from '../../access/shares.ts';
import type { Ctx } from '../../kernel/context.ts';
import { itemsOf, runList } from '../../kernel/lists/lists.run.ts';
import { ofSharedKind, type SharedKind, visibleShared } from '../../kernel/lists/lists.shared.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';

const shareOf = (ctx: Ctx): Fragment => sharedWithCaller(ctx, 'b.shared_with');

/** The bookmarks that the caller sees, over the alias `b`: the own ones, public ones and those shared with the caller. */
export function visibleBookmarks(ctx: Ctx): Condition {
  const share = shareOf(ctx);
  return visibleShared(ctx, 'b', { ...share, sql: `b.visibility = 'shared' and ${share.sql}` });
}

/** Only the owner sees with whom a view is shared; the others see their own entry. */
function bookmarkList(ctx: Ctx): ListSpec {
  const me = ctx.caller.userId;
  return {
    name: 'bookmarks',
    from: 'bookmarks b join users o on o.id = b.owner_id',
    id: 'b.id',
    idType: 'uuid',
    sorts: {
      name: { sql: 'lower(b.name)', type: 'text', filled: true },
      created_at: { sql: 'b.created_at', type: 'timestamptz', immutable: true },
    },
    defaultSort: 'name',
    defaultDir: 'asc',
    search: 'fold(b.name)',
    members: {
      id: 'b.id',
      name: 'b.name',
      card_type: 'b.card_type',
      filters: 'b.filters',
      columns: 'b.columns',
      sort: 'b.sort',
      is_default: 'b.is_default',
      visibility: 'b.visibility',
      odata_enabled: 'b.odata_enabled',
      owner_id: 'b.owner_id',
      owner_name: 'o.display_name',
      is_owner: { sql: 'b.owner_id = ?::uuid', bindings: [me] },
      can_edit: {
        sql: `(b.owner_id = ?::uuid or b.visibility <> 'private' and exists (select from jsonb_array_elements(b.shared_with) s
               where s->>'user_id' = ? and (s->>'can_edit')::boolean))`,
        bindings: [me, me],
      },
      shared_with: sharesSeen(ctx, 'b.shared_with', 'b.owner_id'),
      created_at: 'utc(b.created_at)',
      updated_at: 'utc(b.updated_at)',
      odata_url: `case when b.odata_enabled then '/api/v1/bookmarks/' || b.id || '/odata' end`,
    },
  };
}

/** The caller's own bookmarks, those shared with the caller, and public ones. */
export async function listBookmarks(
  ctx: Ctx,
  params: ListParams & { filter?: SharedKind },
): Promise<JsonText> {
  const where = [visibleBookmarks(ctx), ...ofSharedKind(ctx, 'b', shareOf(ctx), params.filter)];
  return await runList(ctx.db, bookmarkList(ctx), where, params, { owner: ctx.caller.userId });
}

/** One bookmark as the caller sees it, or undefined. */
export async function bookmarkText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  const spec = bookmarkList(ctx);
  const item = projection(spec.members, undefined);
  const [text] = await itemsOf({ sql, spec, where: [visibleBookmarks(ctx)], item }, [id.toLowerCase()]);
  return text;
}
