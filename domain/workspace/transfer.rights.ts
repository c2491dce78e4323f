import { requirePermission } from '../access/policy.ts';
import type { Caller } from '../context.ts';

/**
 * Whoever brings a workspace in: what it brings holds costs, which nobody writes who may not see them.
 * @throws EstateError `forbidden`.
 */
export function requireTransferRights(caller: Caller): void {
  requirePermission(caller, 'admin.import_workspace');
  requirePermission(caller, 'costs.view');
}
