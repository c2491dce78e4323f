import { type AppPermission, appPermissions } from '../access/permissions.data.ts';
import { requirePermission } from '../access/policy.ts';
import type { Caller } from '../context.ts';

/**
 * Whoever brings a workspace in: an archive writes every kind of object, also in the names of others (comments,
 * signatures, roles on cards), so that every permission is needed.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export function requireTransferRights(caller: Caller): void {
  requirePermission(caller, 'admin.import_workspace');
  requirePermission(caller, 'costs.view');
  for (const permission of Object.keys(appPermissions))
    requirePermission(caller, permission as AppPermission);
}
