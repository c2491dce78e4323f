import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { permissionSet } from '../access/access.sessions.ts';
import { type Caller, systemCaller } from '../context.ts';
import type { JobRights } from './jobs.enqueue.ts';

/**
 * As whom a job acts: its owner, with the permissions that the owner held when asking for it and still holds; the
 * service itself where there is no owner.
 * @throws EstateError `forbidden` when the owner is no longer active.
 */
export async function callerOfJob(sql: Sql, ownerId: string | null, rights: JobRights): Promise<Caller> {
  if (ownerId === null) return systemCaller;
  const { rows } = await sql.raw(
    `select u.id, u.email, u.display_name, u.role, r.permissions
     from users u join roles r on r.key = u.role where u.id = ? and u.is_active and not r.is_archived`,
    [ownerId],
  );
  const user = rows[0];
  if (!user) throw new EstateError('forbidden', 'The owner of the job is no longer active.');
  const present = permissionSet(user.permissions);
  return {
    userId: user.id,
    email: user.email,
    displayName: user.display_name,
    role: user.role,
    permissions: common(present, rights.permissions),
    tokenId: null,
    tokenExpiresAt: null,
    ...(rights.impersonated_role ? { impersonatedRole: rights.impersonated_role } : {}),
  };
}

function common(present: Caller['permissions'], frozen: JobRights['permissions']): Caller['permissions'] {
  if (present === '*') return frozen === '*' ? '*' : new Set(frozen);
  if (frozen === '*') return present;
  return new Set(frozen.filter((permission) => present.has(permission)));
}
