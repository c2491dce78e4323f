import { embed, fragment } from '../../platform/database.ts';
import { type FieldError, invalidFields } from '../../platform/errors.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import type { Fragment } from '../kernel/lists/lists.types.ts';
import { lockActiveUsers } from './users.store.ts';

/** A user with whom an object is shared. */
export interface UserShare {
  user_id: string;
  /** Absent in a request: read only. */
  can_edit?: boolean;
}

/** The owner of the shared object, with the display name in messages. */
export interface SharedBy {
  id: string | null;
  called: 'the owner' | 'its maker';
}

/**
 * Checks the users with whom an object is to be shared: active users, each once, without the owner.
 * @param fieldOf the field of the nth user.
 * @returns the ids in lower case.
 * @throws EstateError `validation_failed` naming each field.
 */
export async function checkShareUsers(
  work: Work,
  userIds: readonly string[],
  owner: SharedBy,
  fieldOf: (n: number) => string,
): Promise<string[]> {
  const ids = userIds.map((id) => id.toLowerCase());
  const active = await lockActiveUsers(work.sql, ids);
  const errors: FieldError[] = [];
  for (const [n, id] of ids.entries()) {
    const field = fieldOf(n);
    if (!active.has(id)) errors.push({ field, code: 'unknown_user', message: 'is no active user' });
    else if (id === owner.id) errors.push({ field, code: 'owner', message: `is ${owner.called}` });
    else if (ids.indexOf(id) < n) errors.push({ field, code: 'duplicate', message: 'is given twice' });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return ids;
}

/** {@link checkShareUsers} for `shared_with` with users and access levels, in the stored form. */
export async function checkedShares(
  work: Work,
  shares: readonly UserShare[],
  owner: SharedBy,
): Promise<Required<UserShare>[]> {
  const userIds = shares.map((share) => share.user_id);
  const ids = await checkShareUsers(work, userIds, owner, (n) => `shared_with.${n}.user_id`);
  return shares.map((share, n) => ({ user_id: ids[n]!, can_edit: share.can_edit ?? false }));
}

/** Whether an object is shared with the caller. @param shares SQL of the stored shares. */
export const sharedWithCaller = (ctx: Ctx, shares: string): Fragment =>
  fragment`${embed(shares)} @> jsonb_build_array(jsonb_build_object('user_id', ${ctx.caller.userId}::text))`;

/**
 * The users with whom an object is shared, as JSON ordered by name; only the owner sees other users.
 * @param shares SQL of the stored shares. @param owner SQL of the owner's id.
 */
export const visibleShares = (
  ctx: Ctx,
  shares: string,
  owner: string,
): Fragment => fragment`(select coalesce(json_agg(json_build_object('user_id', u.id, 'display_name',
  u.display_name,
      'can_edit', (s ->> 'can_edit')::boolean) order by lower(u.display_name), u.id), '[]')
    from jsonb_array_elements(${embed(shares)}) s join users u on u.id = (s ->> 'user_id')::uuid
    where ${embed(owner)} = ${ctx.caller.userId}::uuid or u.id = ${ctx.caller.userId}::uuid)`;
