import type { FieldError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { ImportPayload } from './imports.job.ts';
import type { ImportKind } from './imports.row.ts';

/** The error for a value that the caller may not set. */
export function missingPermission(field: string, permission: string): FieldError {
  return { field, code: 'forbidden', message: `needs the permission ${permission}` };
}

/** The errors of costs in a row of a card or relation type, for a caller who may not see costs. */
export function costErrors(
  type: { costKeys: readonly string[] },
  { attributes }: { attributes?: Record<string, unknown> | null },
): FieldError[] {
  if (!attributes) return [];
  return type.costKeys
    .filter((key) => Object.hasOwn(attributes, key))
    .map((key) => missingPermission(`attributes.${key}`, 'costs.view'));
}

/** The permissions that show the stored values of rows. */
export const viewRights = (kind: ImportKind): AppPermission[] =>
  kind === 'relations' || kind === 'data_flows' ? ['inventory.view', 'relations.view'] : ['inventory.view'];

/** The permissions that an import needs. @throws EstateError `forbidden` naming the first missing one. */
export function requireImportRights(
  { caller }: Ctx,
  { kind, mode, report, create_tags }: Pick<ImportPayload, 'kind' | 'mode' | 'report' | 'create_tags'>,
): void {
  if (create_tags) requirePermission(caller, 'tags.manage');
  if (report === 'changes') for (const permission of viewRights(kind)) requirePermission(caller, permission);
  if (kind === 'relations' || kind === 'data_flows') {
    requirePermission(caller, 'relations.manage');
    return;
  }
  if (kind === 'costs') {
    requirePermission(caller, 'costs.view');
    requirePermission(caller, 'inventory.edit');
    return;
  }
  requirePermission(caller, 'inventory.create');
  if (mode === 'upsert') requirePermission(caller, 'inventory.edit');
}
