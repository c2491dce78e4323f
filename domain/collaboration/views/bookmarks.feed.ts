import { embed, query } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { visibleAttributes } from '../../inventory/cards/cards.projection.ts';
import { searchCards } from '../../inventory/cards/cards.search.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { projection, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { bookmarkConditions } from './bookmarks.filter.ts';
import type { BookmarkFilters } from './bookmarks.input.ts';
import { visibleBookmarks } from './bookmarks.list.ts';

/**
 * One page of a view's feed: the active cards that its filters select among those that the caller sees, by id.
 * @throws EstateError `not_found` where the caller does not see the view, `forbidden` where it has no feed.
 */
export async function bookmarkFeed(
  ctx: Ctx,
  id: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'inventory.export');
  const visible = visibleBookmarks(ctx);
  const [view] = await query(ctx.db).rows<{
    id: string;
    filters: BookmarkFilters | null;
    odata_enabled: boolean;
  }>`select b.id, b.filters, b.odata_enabled from bookmarks b where b.id = ${id}::uuid and ${embed(visible)}`;
  if (!view) throw notFound('bookmark', id);
  if (!view.odata_enabled) {
    throw new EstateError('forbidden', 'The view has no feed; its owner may enable it.');
  }

  const where: Condition[] = [
    visibleCards(ctx),
    { sql: "c.status = 'ACTIVE'", bindings: [] },
    ...(await bookmarkConditions(ctx, view.filters ?? {})),
  ];
  const text = view.filters?.search?.trim();
  if (text) {
    const { ids } = await searchCards({ sql: ctx.db, where, plain: false, text });
    where.push({ sql: 'c.id = any(?::uuid[])', bindings: [ids] });
  }
  const item = projection(
    {
      id: 'c.id',
      type: 'c.type',
      subtype: 'c.subtype',
      name: 'c.name',
      description: 'c.description',
      status: 'c.status',
      approval_status: 'c.approval_status',
      data_quality: 'c.data_quality',
      lifecycle: 'c.lifecycle',
      attributes: visibleAttributes(ctx),
      external_id: 'c.external_id',
      alias: 'c.alias',
      created_at: 'utc(c.created_at)',
      updated_at: 'utc(c.updated_at)',
    },
    undefined,
  );
  const w = whereClause(where);
  const [answer] = await query(ctx.db).rows<{ total: number; items: string }>`select (select count(*)
    from cards c${embed(w)}) as total,
       (select coalesce(json_agg(item), '[]')::text from (
          select ${embed(item)} as item
          from (select c.id from cards c${embed(w)} order by c.id
          limit ${size} offset ${(page - 1) * size}) page
          join cards c on c.id = page.id order by c.id) rows) as items`;
  const { total, items } = answer!;
  const path = `/api/v1/bookmarks/${view.id}/odata`;
  const next = page * size < total ? `,"@odata.nextLink":"${path}?page=${page + 1}&page_size=${size}"` : '';
  return `{"@odata.context":"${path}","@odata.count":${total},"value":${items}${next}}`;
}
