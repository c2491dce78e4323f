import { query } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { checkedShares } from '../../access/shares.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { differingMembers, rowChanges } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { checkBookmarkFilters } from './bookmarks.filter.ts';
import type { BookmarkInput } from './bookmarks.input.ts';
import { bookmarkText } from './bookmarks.list.ts';
import { Bookmark, type BookmarkRow } from './views.model.ts';

/** Saves a view of the inventory. @throws EstateError `forbidden`, `validation_failed`. */
export async function createBookmark(ctx: Ctx, input: BookmarkInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  return await command(ctx, async (work) => {
    const owner = ctx.caller.userId!;
    const values = await checked(work, ctx, input, owner);
    if (values.is_default) await endDefault(work, owner, values.card_type ?? null, null);
    const row = await insertRow(work.sql, Bookmark, { ...values, owner_id: owner });
    work.emit(bookmarkEvent(null, row));
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
    if (!access.can_edit) throw new EstateError('forbidden', 'The view is shared for reading only.');
    checkIfMatch(ctx, text);
    const ownersOnly = ['is_default', 'visibility', 'odata_enabled', 'shared_with'] as const;
    const owned = ownersOnly.find((member) => input[member] !== undefined);
    if (owned && !access.is_owner) throw new EstateError('forbidden', `Only the owner may change ${owned}.`);
    const values = await checked(work, ctx, input, before.owner_id);
    const after = { ...before, ...values };
    if (after.is_default && (values.is_default || values.card_type !== undefined)) {
      await endDefault(work, before.owner_id, after.card_type, before.id);
    }
    const changed = differingMembers(before, values);
    if (Object.keys(changed).length > 0) {
      work.emit(bookmarkEvent(before, await updateRow(work.sql, Bookmark, { id: before.id }, changed)));
    }
    return (await bookmarkText(work.sql, ctx, id))!;
  });
}

/** Deletes an own view. @throws EstateError `not_found`, `forbidden` for another's. */
export async function deleteBookmark(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  await command(ctx, async (work) => {
    const { row, access } = await locked(work, ctx, id);
    if (!access.is_owner) throw new EstateError('forbidden', 'Only the owner may delete the view.');
    await deleteRows(work.sql, Bookmark, (query) => query.where({ id: row.id }));
    work.emit(bookmarkEvent(row, null));
  });
}

async function locked(work: Work, ctx: Ctx, id: string) {
  const row = await lockRow(work.sql, Bookmark, { id: id.toLowerCase() });
  const text = row && (await bookmarkText(work.sql, ctx, id));
  if (!row || !text) throw notFound('bookmark', id);
  return { row, text, access: JSON.parse(text) as { can_edit: boolean; is_owner: boolean } };
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
    const after = await updateRow(sql, Bookmark, { id: before.id }, { is_default: false });
    work.emit(bookmarkEvent(before, after));
  }
}

/** A write of a bookmark, which only its owner may read because the view may be private. */
function bookmarkEvent(before: BookmarkRow | null, after: BookmarkRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `bookmark.${kind}`,
    recipient_id: owner_id,
    data: { id, name, changes: rowChanges(before, after) },
  };
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
  if (input.card_type && !ctx.metamodel.visibleTypes.includes(input.card_type)) {
    throw invalidField('card_type', 'unknown_type', `there is no card type "${input.card_type}"`);
  }
  if (input.filters) await checkBookmarkFilters(ctx, input.filters);
  const values: Partial<BookmarkRow> = { ...input };
  if (input.name !== undefined) values.name = input.name.trim();
  if (input.sort) values.sort = { direction: 'asc', ...input.sort };
  if (shares !== undefined) {
    values.shared_with = await checkedShares(work, shares ?? [], { id: owner, called: 'the owner' });
  }
  return values;
}
