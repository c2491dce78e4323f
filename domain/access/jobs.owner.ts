import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { type Caller, systemCaller } from '../kernel/context.ts';
import { type JobRights, rightsOf } from '../kernel/jobs/jobs.enqueue.ts';
import type { AppPermission } from '../kernel/permissions/permissions.data.ts';
import { may } from '../kernel/permissions/policy.ts';
import { commonPermissions, permissionSet } from './access.sessions.ts';

/**
 * The caller of a job: its owner, with the permissions that the owner had when enqueuing it and still has, within the
 * scopes of the presented token; the service itself if there is no owner.
 * @throws EstateError `forbidden` if the owner is no longer active.
 */
export async function callerOfJob(sql: Sql, ownerId: string | null, rights: JobRights): Promise<Caller> {
  if (ownerId === null) return systemCaller;
  const rows = await query(sql).rows`select u.id, u.email, u.display_name, u.role, r.permissions
     from users u join roles r on r.key = u.role
     where u.id = ${ownerId} and u.is_active and not r.is_archived`;
  const user = rows[0];
  if (!user) throw new EstateError('forbidden', 'The owner of the job is no longer active.');
  return {
    userId: user.id,
    email: user.email,
    displayName: user.display_name,
    role: user.role,
    permissions: commonPermissions(permissionSet(user.permissions), listed(rights.permissions)),
    ...(rights.scopes ? { scopes: new Set(rights.scopes) } : {}),
    tokenId: null,
    tokenExpiresAt: null,
    ...(rights.impersonated_role ? { impersonatedRole: rights.impersonated_role } : {}),
  };
}

/** Whether the owner of a job still has the rights with which its run has started. */
export async function keepsRights(sql: Sql, { owner_id, rights }: Owned, started: Caller): Promise<boolean> {
  const now = await callerOfJob(sql, owner_id, rights).catch((error) => {
    if (error instanceof EstateError) return undefined;
    throw error;
  });
  if (!now) return false;
  if (now.permissions === '*') return true;
  const left = now.permissions;
  return started.permissions !== '*' && [...started.permissions].every((key) => left.has(key));
}

/** An object that acts for a user without a request: a webhook, a schedule, a connection. */
export interface Owned {
  owner_id: string | null;
  /** The owner's rights when becoming the owner. */
  rights: JobRights;
}

/** The columns that make the caller the owner, with the caller's current rights. */
export function ownedBy(caller: Caller): { owner_id: string | null; rights: string } {
  return { owner_id: caller.userId, rights: JSON.stringify(rightsOf(caller)) };
}

/** The error for an owner who may no longer act; `reason` follows "The owner of the ...". */
export class OwnerRefused extends EstateError {
  readonly reason: string;

  constructor(what: string, reason: string, permission?: AppPermission) {
    super('forbidden', `The owner of the ${what} ${reason}.`, permission ? { extra: { permission } } : {});
    this.reason = reason;
  }
}

/**
 * The caller of an object that has an owner: the owner, with the permissions that the owner had when becoming the owner
 * and still has.
 * @param what the kind of object, for the message.
 * @param needed permissions that the owner must have.
 * @throws OwnerRefused if the owner was deleted, is inactive, or lacks one of `needed`.
 */
export async function callerOfOwner(
  sql: Sql,
  { owner_id, rights }: Owned,
  what: string,
  needed: readonly AppPermission[],
): Promise<Caller> {
  if (owner_id === null) throw new OwnerRefused(what, 'no longer exists');
  const caller = await callerOfJob(sql, owner_id, rights).catch((error) => {
    throw error instanceof EstateError ? new OwnerRefused(what, 'is no longer active') : error;
  });
  const missing = needed.find((permission) => !may(caller, permission));
  if (missing) throw new OwnerRefused(what, `needs the permission ${missing}`, missing);
  return caller;
}

/** The caller, limited to the owner's permissions and scopes; the owner if there is no caller. */
export function boundedBy(owner: Caller, caller: Caller): Caller {
  if (caller.userId === null) return owner;
  const { scopes: _, ...bounded } = caller;
  const scopes = commonScopes(owner.scopes, caller.scopes);
  const permissions = commonPermissions(caller.permissions, owner.permissions);
  return { ...bounded, permissions, ...(scopes ? { scopes } : {}) };
}

function commonScopes(a: Caller['scopes'], b: Caller['scopes']): Caller['scopes'] {
  return a && b ? new Set([...a].filter((scope) => b.has(scope))) : (a ?? b);
}

const listed = (frozen: JobRights['permissions']): Caller['permissions'] =>
  frozen === '*' ? '*' : new Set(frozen);
