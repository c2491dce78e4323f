import { embed, fragment, query } from '../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../platform/errors.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import type { Fragment } from '../kernel/lists/lists.types.ts';
import type { UndoSpec } from '../kernel/undo/undo.types.ts';
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
 * @param given `shared_with`: users with access levels, or ids of users who may only read.
 * @returns the shares in the stored form, with ids in lower case.
 * @throws EstateError `validation_failed` naming each field.
 */
export async function checkedShares(
  work: Work,
  given: readonly (UserShare | string)[],
  owner: SharedBy,
): Promise<Required<UserShare>[]> {
  const shares = given.map((share) => {
    const { user_id, can_edit = false } = typeof share === 'string' ? { user_id: share } : share;
    return { user_id: user_id.toLowerCase(), can_edit };
  });
  const ids = shares.map(({ user_id }) => user_id);
  const active = await lockActiveUsers(work.sql, ids);
  const errors: FieldError[] = [];
  for (const [n, id] of ids.entries()) {
    const field = `shared_with.${n}${typeof given[n] === 'string' ? '' : '.user_id'}`;
    if (!active.has(id)) errors.push({ field, code: 'unknown_user', message: 'is no active user' });
    else if (id === owner.id) errors.push({ field, code: 'owner', message: `is ${owner.called}` });
    else if (ids.indexOf(id) < n) errors.push({ field, code: 'duplicate', message: 'is given twice' });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return shares;
}

/** What the caller may do with an object that is shared. */
export interface SharedAccess {
  is_owner: boolean;
  can_edit: boolean;
}

/**
 * Checks that the caller may change an object that is shared; some members only its owner.
 * @param noun messages call it so.
 * @throws EstateError `forbidden`.
 */
export function requireSharedEdit<I extends object>(
  { is_owner, can_edit }: SharedAccess,
  input: I,
  ownersOnly: readonly (keyof I & string)[],
  noun: string,
): void {
  if (!can_edit) throw new EstateError('forbidden', `The ${noun} is shared for reading only.`);
  const owned = ownersOnly.find((member) => input[member] !== undefined);
  if (owned && !is_owner) throw new EstateError('forbidden', `Only the owner may change ${owned}.`);
}

/**
 * Whether the caller may change an object that is shared.
 * @param alias of its table, with `owner_id` and `visibility`. @param editor SQL: it is shared with the caller for editing.
 */
export const mayEditShared = (ctx: Ctx, alias: string, editor: Fragment): Fragment =>
  fragment`(${embed(alias)}.owner_id = ${ctx.caller.userId}::uuid
    or ${embed(alias)}.visibility <> 'private' and ${embed(editor)})`;

/**
 * Refuses to undo a change of an object that is no longer shared with the caller for editing.
 * @param mayEdit SQL of whether the caller may change the one of an alias.
 */
export const stillEditable =
  (table: string, noun: string, mayEdit: (ctx: Ctx, alias: string) => Fragment): UndoSpec['settle'] =>
  async ({ sql }, ctx, { id, event_type }) => {
    if (ctx.caller.permissions === '*' || !event_type.endsWith('.updated')) return null;
    const [isAllowed] = await query(sql).column<boolean>`select ${embed(mayEdit(ctx, 't'))}
      from ${embed(table)} t where t.id = ${id}::uuid`;
    return isAllowed
      ? null
      : { code: 'forbidden', message: `The ${noun} is no longer shared with you for editing.` };
  };

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
