import type { Sql } from '../../platform/database.ts';
import { EstateError, invalidField } from '../../platform/errors.ts';
import type { Caller, Ctx } from '../context.ts';
import { type AppPermission, appPermissions } from './permissions.data.ts';
import { forbidden } from './policy.ts';

/** A stored permission map; `{"*": true}` is the wildcard. */
export type PermissionMap = Record<string, boolean>;

/** The first permission of the map, in the catalogue's order, that the caller does not hold. */
export function missingFrom(caller: Caller, map: PermissionMap): AppPermission | undefined {
  const held = caller.permissions;
  if (held === '*') return undefined;
  const keys = Object.keys(appPermissions) as AppPermission[];
  const missing = keys.find((key) => (map['*'] || map[key]) && !held.has(key));
  // whoever holds every single key still does not hold those to come
  return missing ?? (map['*'] ? 'admin.roles' : undefined);
}

/**
 * Nobody gives what he does not hold himself: neither to a role, nor with a role, nor by taking over an account.
 * @throws EstateError `forbidden` naming the first permission that the caller lacks.
 */
export function requireGrantable(caller: Caller, map: PermissionMap): void {
  const missing = missingFrom(caller, map);
  if (missing) throw forbidden(missing);
}

/** The permission map of an active role. @throws EstateError `validation_failed` naming `role`. */
export async function permissionsOfRole(sql: Sql, key: string): Promise<PermissionMap> {
  const row = await sql('roles').where({ key, is_archived: false }).first('permissions');
  if (!row) throw invalidField('role', 'unknown_role', `there is no active role "${key}"`);
  return row.permissions;
}

/**
 * Whoever sets the password, the address or a token of an account can act as it, so he has to hold what it holds.
 * @param role the account's role.
 * @throws EstateError `forbidden`.
 */
export async function requireControlOf(ctx: Ctx, sql: Sql, role: string): Promise<void> {
  const row = await sql('roles').where({ key: role }).first('permissions');
  requireGrantable(ctx.caller, row?.permissions ?? {});
}

/**
 * Refuses what only a person's own login may do: passwords, tokens and second factors are out of reach for tokens, and
 * for administrators while they look at the service as another role.
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
