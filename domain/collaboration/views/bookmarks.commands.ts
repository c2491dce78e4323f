import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import {
  checkedShares,
  mayEditShared,
  requireSharedEdit,
  type SharedAccess,
  sharedWithCaller,
  visibleShares,
} from '../../access/shares.ts';
import { visibleAttributes, visibleCards } from '../../inventory/cards/cards.projection.ts';
import { searchCards } from '../../inventory/cards/cards.search.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import { sharedFilter, sharedKindConditions, visibleShared } from '../../kernel/lists/lists.shared.ts';
import { projection, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, removeRow } from '../../kernel/resources/items.ts';
import { findRows, lockRow } from '../../kernel/resources/rows.ts';
import { bookmarkConditions, checkBookmarkFilters } from './bookmarks.filter.ts';
import type { BookmarkFilters, BookmarkInput } from './bookmarks.input.ts';
import { Bookmark, type BookmarkRow } from './views.model.ts';

const shareOf = (ctx: Ctx): Fragment => sharedWithCaller(ctx, 'b.shared_with');

/** The bookmarks that the caller sees, over the alias `b`: own and public ones, and those shared with the caller. */
export function visibleBookmarks(ctx: Ctx): Condition {
  const share = shareOf(ctx);
  return visibleShared(ctx, 'b', { ...share, sql: `b.visibility = 'shared' and ${share.sql}` });
}

/** Whether the caller may change the view of an alias. */
export const mayEditBookmark = (ctx: Ctx, alias: string): Fragment =>
  mayEditShared(
    ctx,
    alias,
    fragment`${embed(alias)}.shared_with @> jsonb_build_array(
      jsonb_build_object('user_id', ${ctx.caller.userId}::text, 'can_edit', true))`,
  );

/** The caller's own bookmarks, those shared with the caller, and public ones. The owner sees all entries of `shared_with`. */
export const bookmarkList = defineList({
  name: 'bookmarks',
  from: 'bookmarks b join users o on o.id = b.owner_id',
  id: 'b.id',
  sorts: {
    name: { sql: 'lower(b.name)', type: 'text', filled: true },
    ...columnSorts('b', Bookmark, 'created_at'),
  },
  defaultSort: 'name',
  search: 'fold(b.name)',
  filters: { filter: sharedFilter },
  members: {
    ...columnMembers('b', Bookmark),
    owner_name: 'o.display_name',
    is_owner: (ctx) => fragment`b.owner_id = ${ctx.caller.userId}::uuid`,
    can_edit: (ctx) => mayEditBookmark(ctx, 'b'),
    shared_with: (ctx) => visibleShares(ctx, 'b.shared_with', 'b.owner_id'),
    odata_url: `case when b.odata_enabled then '/api/v1/bookmarks/' || b.id || '/odata' end`,
  },
  where: (ctx, { filter }) => [
    visibleBookmarks(ctx),
    ...sharedKindConditions(ctx, 'b', shareOf(ctx), filter),
  ],
});

/** One bookmark as the caller sees it, or undefined. */
async function bookmarkText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  return await findItem(sql, listFor(ctx, bookmarkList), id, [visibleBookmarks(ctx)]);
}

/** Saves a view of the inventory. @throws EstateError `forbidden`, `validation_failed`. */
export async function createBookmark(ctx: Ctx, input: BookmarkInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  return await command(ctx, async (work) => {
    const owner = ctx.caller.userId!;
    const values = await checked(work, ctx, input, owner);
    if (values.is_default) await endDefault(work, owner, values.card_type ?? null, null);
    const row = await createRow(work, Bookmark, { ...values, owner_id: owner }, bookmarkEvent);
    return (await bookmarkText(work.sql, ctx, row.id))!;
  });
}

/**
 * Changes a view. Users with whom it is shared for editing may not change its sharing.
 * @throws EstateError `not_found` where the caller does not see it, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function patchBookmark(ctx: Ctx, id: string, input: BookmarkInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  return await command(ctx, async (work) => {
    const { row: before, text, access } = await locked(work, ctx, id);
    const ownersOnly = ['is_default', 'visibility', 'odata_enabled', 'shared_with'] as const;
    requireSharedEdit(access, input, ownersOnly, 'view');
    checkIfMatch(ctx, text);
    const values = await checked(work, ctx, input, before.owner_id);
    const after = { ...before, ...values };
    if (after.is_default && (values.is_default || values.card_type !== undefined)) {
      await endDefault(work, before.owner_id, after.card_type, before.id);
    }
    await changeRow(work, Bookmark, before, values, bookmarkEvent);
    return (await bookmarkText(work.sql, ctx, id))!;
  });
}

/** Deletes an own view. @throws EstateError `not_found`, `forbidden` for another's. */
export async function deleteBookmark(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  await command(ctx, async (work) => {
    const { row, access } = await locked(work, ctx, id);
    if (!access.is_owner) throw new EstateError('forbidden', 'Only the owner may delete the view.');
    await removeRow(work, Bookmark, row, bookmarkEvent);
  });
}

async function locked(work: Work, ctx: Ctx, id: string) {
  const row = await lockRow(work.sql, Bookmark, { id: id.toLowerCase() });
  const text = row && (await bookmarkText(work.sql, ctx, id));
  if (!row || !text) throw notFound('bookmark', id);
  return { row, text, access: JSON.parse(text) as SharedAccess };
}

/** Ends the owner's present default view of a card type. The lock on the owner serialises such changes. */
async function endDefault(
  work: Work,
  owner: string,
  cardType: string | null,
  except: string | null,
): Promise<void> {
  const { sql } = work;
  await query(sql).run`select from users where id = ${owner} for no key update`;
  const defaults = await findRows(sql, Bookmark, (query) =>
    query
      .where({ owner_id: owner, is_default: true, card_type: cardType })
      .whereRaw('id is distinct from ?::uuid', [except])
      .forUpdate(),
  );
  for (const before of defaults) {
    await changeRow(work, Bookmark, before, { is_default: false }, bookmarkEvent);
  }
}

/** A write of a bookmark, which only its owner may read because the view may be private. */
export function bookmarkEvent(before: BookmarkRow | null, after: BookmarkRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  return { ...rowEvent('bookmark', before, after, { id, name }), recipient_id: owner_id };
}

/** The checked input as it is stored. */
async function checked(
  work: Work,
  ctx: Ctx,
  { shared_with: shares, ...input }: BookmarkInput,
  owner: string,
): Promise<Partial<BookmarkRow>> {
  if ((input.visibility !== undefined && input.visibility !== 'private') || shares?.length) {
    requirePermission(ctx.caller, 'bookmarks.share');
  }
  if (input.odata_enabled) requirePermission(ctx.caller, 'bookmarks.odata');
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  if (input.card_type && !work.metamodel.visibleTypes.includes(input.card_type)) {
    throw invalidField('card_type', 'unknown_type', `there is no card type "${input.card_type}"`);
  }
  if (input.filters) await checkBookmarkFilters({ ...ctx, metamodel: work.metamodel }, input.filters);
  const values: Partial<BookmarkRow> = { ...input };
  if (input.name !== undefined) values.name = input.name.trim();
  if (input.sort) values.sort = { direction: 'asc', ...input.sort };
  if (shares !== undefined) {
    values.shared_with = await checkedShares(work, shares ?? [], { id: owner, called: 'the owner' });
  }
  return values;
}

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
    fragment`c.status = 'ACTIVE'`,
    ...(await bookmarkConditions(ctx, view.filters ?? {})),
  ];
  const text = view.filters?.search?.trim();
  if (text) {
    const { ids } = await searchCards({ sql: ctx.db, where, plain: false, text });
    where.push(fragment`c.id = any(${ids}::uuid[])`);
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
