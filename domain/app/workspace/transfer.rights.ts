import type { Caller } from '../../kernel/context.ts';
import { type AppPermission, appPermissions } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/**
 * Checks the rights to import a workspace. An archive contains every kind of object, also in the names of others (comments,
 * signatures, stakeholders), so that every permission is needed.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export function requireTransferRights(caller: Caller): void {
  requirePermission(caller, 'admin.import_workspace');
  requirePermission(caller, 'costs.view');
  for (const permission of Object.keys(appPermissions))
    requirePermission(caller, permission as AppPermission);
}
