import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { checkedShares, type UserShare } from '../../access/shares.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { bookmarkEvent } from './bookmarks.events.ts';
import { type BookmarkFilters, checkBookmarkFilters } from './bookmarks.filter.ts';
import { bookmarkText } from './bookmarks.list.ts';

export interface BookmarkInput {
  name?: string;
  card_type?: string | null;
  filters?: BookmarkFilters | null;
  columns?: string[] | null;
  sort?: { field: string; direction?: 'asc' | 'desc' } | null;
  /** The owner's default view of the card type; at most one of each. */
  is_default?: boolean;
  visibility?: 'private' | 'shared' | 'public';
  odata_enabled?: boolean;
  shared_with?: UserShare[] | null;
}

/** Saves a view of the inventory. @throws EstateError `forbidden`, `validation_failed`. */
export async function createBookmark(ctx: Ctx, input: BookmarkInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  return await command(ctx, async (work) => {
    const values = await checked(work, ctx, input, ctx.caller.userId!);
    const defaults = { is_default: false, visibility: 'private', odata_enabled: false, shared_with: [] };
    if (values.is_default) await endDefault(work, ctx.caller.userId!, values.card_type ?? null, null);
    const row = await insertRow(work.sql, 'bookmarks', {
      ...defaults,
      ...values,
      owner_id: ctx.caller.userId,
    });
    work.emit(bookmarkEvent(null, row));
    return (await bookmarkText(work.sql, ctx, row.id as string))!;
  });
}

/**
 * Changes a view. Those whom the owner lets edit it change what it shows, not with whom it is shared.
 * @throws EstateError `not_found` where the caller does not see it, `forbidden`, `precondition_failed`, `validation_failed`.
 */
export async function patchBookmark(ctx: Ctx, id: string, input: BookmarkInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  return await command(ctx, async (work) => {
    const { row: before, text, seen } = await locked(work, ctx, id);
    if (!seen.can_edit) throw new EstateError('forbidden', 'The view is shared for reading only.');
    checkIfMatch(ctx, text);
    const ownersOnly = ['is_default', 'visibility', 'odata_enabled', 'shared_with'] as const;
    const owned = ownersOnly.find((member) => input[member] !== undefined);
    if (owned && !seen.is_owner) throw new EstateError('forbidden', `Only the owner may change ${owned}.`);
    const values = await checked(work, ctx, input, before.owner_id as string);
    const after = { ...before, ...values };
    if (after.is_default && (values.is_default || values.card_type !== undefined)) {
      await endDefault(
        work,
        before.owner_id as string,
        after.card_type as string | null,
        before.id as string,
      );
    }
    const changed = differing(before, values);
    if (Object.keys(changed).length > 0) {
      const key = { column: 'id', value: before.id as string };
      work.emit(bookmarkEvent(before, await updateRow(work.sql, 'bookmarks', key, changed)));
    }
    return (await bookmarkText(work.sql, ctx, id))!;
  });
}

/** Deletes an own view. @throws EstateError `not_found`, `forbidden` for another's. */
export async function deleteBookmark(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'bookmarks.manage');
  await command(ctx, async (work) => {
    const { row, seen } = await locked(work, ctx, id);
    if (!seen.is_owner) throw new EstateError('forbidden', 'Only the owner may delete the view.');
    await work
      .sql('bookmarks')
      .where({ id: row.id as string })
      .delete();
    work.emit(bookmarkEvent(row, null));
  });
}

async function locked(work: Work, ctx: Ctx, id: string) {
  const row = await lockRow(work.sql, 'bookmarks', { id: id.toLowerCase() });
  const text = row && (await bookmarkText(work.sql, ctx, id));
  if (!row || !text) throw notFound('bookmark', id);
  return { row, text, seen: JSON.parse(text) as { can_edit: boolean; is_owner: boolean } };
}

/** Ends what was the owner's default for the type until now; the owner's row keeps two from becoming it at once. */
async function endDefault(
  work: Work,
  owner: string,
  cardType: unknown,
  except: string | null,
): Promise<void> {
  const { sql } = work;
  await sql.raw('select from users where id = ? for no key update', [owner]);
  const { rows } = await sql.raw(
    `select id::text from bookmarks where owner_id = ? and is_default
     and card_type is not distinct from ?::text and id is distinct from ?::uuid`,
    [owner, cardType as string | null, except],
  );
  for (const { id } of rows) {
    const before = (await lockRow(sql, 'bookmarks', { id }))!;
    const key = { column: 'id', value: id };
    work.emit(bookmarkEvent(before, await updateRow(sql, 'bookmarks', key, { is_default: false })));
  }
}

/** The input as it is stored. */
async function checked(work: Work, ctx: Ctx, input: BookmarkInput, owner: string): Promise<StoredRow> {
  const shares = input.shared_with;
  if ((input.visibility !== undefined && input.visibility !== 'private') || shares?.length) {
    requirePermission(ctx.caller, 'bookmarks.share');
  }
  if (input.odata_enabled) requirePermission(ctx.caller, 'bookmarks.odata');
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  if (input.card_type && !ctx.metamodel.visibleTypes.includes(input.card_type)) {
    throw invalidField('card_type', 'unknown_type', `there is no card type "${input.card_type}"`);
  }
  if (input.filters) await checkBookmarkFilters(ctx, input.filters);
  const values: StoredRow = { ...input };
  if (input.name !== undefined) values.name = input.name.trim();
  if (input.sort) values.sort = { direction: 'asc', ...input.sort };
  if (shares !== undefined)
    values.shared_with = await checkedShares(work, shares ?? [], { id: owner, called: 'the owner' });
  return values;
}
