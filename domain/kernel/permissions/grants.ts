import { query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Caller, Ctx } from '../context.ts';
import {
  type AppPermission,
  appPermissionOf,
  type CardPermission,
  permissionKeys,
} from './permissions.data.ts';
import { cardRights, forbidden, showsCosts } from './policy.ts';

/** A stored permission map; `{"*": true}` is the wildcard. */
export type PermissionMap = Record<string, boolean>;

/** The first permission of the map, in the catalogue's order, that the caller does not have. */
export function missingFrom(caller: Caller, map: PermissionMap): AppPermission | undefined {
  const held = caller.permissions;
  if (held === '*') return undefined;
  const missing = permissionKeys.find((key) => (map['*'] || map[key]) && !held.has(key));
  // A caller with every single key does not have future permissions.
  return missing ?? (map['*'] ? 'admin.roles' : undefined);
}

/**
 * Nobody can grant permissions that they do not have: neither to a role, nor by assigning a role, nor by taking over an
 * account.
 * @throws EstateError `forbidden` naming the first permission that the caller lacks.
 */
export function requireGrantable(caller: Caller, map: PermissionMap): void {
  const missing = missingFrom(caller, map);
  if (missing) throw forbidden(missing);
}

/** Whether a check of permissions passes. */
export const isPermitted = async (check: () => Promise<void>): Promise<boolean> =>
  (await refusalOf(check)) === undefined;

/** Why a check of permissions does not pass; undefined if it does. */
export async function refusalOf(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof EstateError && error.code === 'forbidden') return error.message;
    throw error;
  }
}

/** The permission map of an active role. @throws EstateError `validation_failed` naming `role`. */
export async function permissionsOfRole(sql: Sql, key: string): Promise<PermissionMap> {
  const row = await sql('roles').where({ key, is_archived: false }).first('permissions');
  if (!row) throw invalidField('role', 'unknown_role', `there is no active role "${key}"`);
  return row.permissions;
}

/** Roles that every user who may invite can assign, without having their permissions. */
export const INVITABLE_ROLES: readonly string[] = ['member', 'viewer'];

/** The columns of an account that determine its rights. */
interface Account {
  id: string;
  role: string;
}

/**
 * A user who can set the password, the address or a token of an account can act as it, and therefore needs the
 * permissions of the account's role and, for its stakeholder roles on cards, the corresponding application permissions.
 * @throws EstateError `forbidden`.
 */
export async function requireControlOf(ctx: Ctx, sql: Sql, { id, role }: Account): Promise<void> {
  const row = await sql('roles').where({ key: role }).first('permissions');
  requireGrantable(ctx.caller, row?.permissions ?? {});
  const rows = await query(sql).rows`select c.type, array_agg(distinct s.role) as roles
     from stakeholders s join cards c on c.id = s.card_id where s.user_id = ${id}::uuid group by c.type`;
  for (const { type, roles } of rows as { type: string; roles: string[] }[]) {
    const rights = [...cardRights(ctx, type, roles)] as CardPermission[];
    const needed = rights.map((right) => appPermissionOf[right]);
    if (roles.some(showsCosts)) needed.push('costs.view');
    requireGrantable(ctx.caller, Object.fromEntries(needed.map((permission) => [permission, true])));
  }
}

/**
 * A user who reactivates an account grants its rights, and therefore needs them, except those of members and viewers.
 * @throws EstateError `forbidden`.
 */
export async function requireReopening(ctx: Ctx, sql: Sql, account: Account): Promise<void> {
  if (!INVITABLE_ROLES.includes(account.role)) await requireControlOf(ctx, sql, account);
}

/**
 * Refuses operations that need the user's own login: passwords, tokens and second factors cannot be changed with API
 * tokens, nor by administrators while they impersonate another role.
 * @throws EstateError `session_required`.
 */
export function requireSession({ apiTokenId, impersonatedRole }: Caller): void {
  if (apiTokenId !== undefined) {
    throw new EstateError('session_required', 'A personal or service token cannot do this; log in.');
  }
  if (impersonatedRole !== undefined) {
    throw new EstateError('session_required', 'Not while you look at the service as another role.');
  }
}

/** @throws EstateError `session_required` for tokens that are not from a login. */
export function requireLogin(caller: Caller): void {
  requireSession({ ...caller, impersonatedRole: undefined });
}
