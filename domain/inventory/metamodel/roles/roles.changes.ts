import { EstateError, type FieldError, invalidFields, notFound } from '../../../../platform/errors.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import type { StakeholderRoleRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { loadMetamodel } from '../../../kernel/metamodel/metamodel.store.ts';
import { cardPermissions } from '../../../kernel/permissions/permissions.data.ts';
import { unique } from '../card-types/card-types.rules.ts';
import { requireChangeReach } from '../changes/changes.reach.ts';
import { checkSeen } from '../changes/changes.seen.ts';
import type { ChangeRun } from '../changes/changes.types.ts';
import { restateInventory } from '../changes/restate.ts';
import { readStakeholderRoleDefinition } from '../metamodel.list.ts';
import { insertRole, lockRoles, updateRole } from './roles.rows.ts';
import { lastActiveRole, roleTranslations } from './roles.sync.ts';

export type RoleInput = Partial<
  Pick<StakeholderRoleRow, 'key' | 'label' | 'description' | 'color' | 'permissions' | 'sort_order'>
> & { translations?: unknown };

/**
 * Adds a role to a type, after the others. Cards without a stakeholder in it lose data quality. Callers cannot grant a role
 * card permissions for which they do not hold the application permissions.
 * @throws EstateError `forbidden`, `not_found`, `key_taken`, `validation_failed`; LargeChange.
 */
export async function createRole(run: ChangeRun, typeKey: string, input: RoleInput): Promise<JsonText> {
  requireType(run, typeKey);
  const stored = await lockRoles(run.work, typeKey);
  const key = input.key!;
  if (stored.some((role) => role.key === key)) {
    throw new EstateError('key_taken', `The type has a role ${key} already; it may be archived.`);
  }
  const sort_order = 1 + Math.max(-1, ...stored.map((role) => role.sort_order));
  await insertRole(run.work, { sort_order, ...cleanRole(input), card_type_key: typeKey });
  await restateInventory(run);
  return await text(run, typeKey, key);
}

/** Changes a role. @throws EstateError `forbidden` as {@link createRole}, `not_found`, `validation_failed`, `precondition_failed`. */
export async function patchRole(
  run: ChangeRun,
  typeKey: string,
  key: string,
  input: RoleInput,
): Promise<JsonText> {
  const { role } = await lockedRole(run, typeKey, key);
  await updateRole(run.work, role, cleanRole(input));
  requireChangeReach(run.ctx, run.work.metamodel, await loadMetamodel(run.work.sql));
  return await text(run, typeKey, key);
}

/**
 * Archives a role: it grants no rights and does not count for data quality; its stakeholders remain.
 * @throws EstateError `not_found`, `wrong_state`, `last_active_role`; LargeChange.
 */
export async function archiveRole(run: ChangeRun, typeKey: string, key: string): Promise<JsonText> {
  const { role, roles } = await lockedRole(run, typeKey, key);
  if (role.is_archived) throw new EstateError('wrong_state', 'The role is archived already.');
  if (roles.filter((other) => !other.is_archived).length === 1) throw lastActiveRole();
  await updateRole(run.work, role, {
    is_archived: true,
    archived_at: new Date().toISOString(),
    archived_by: run.ctx.caller.userId,
  });
  await restateInventory(run);
  return await text(run, typeKey, key);
}

/** Makes an archived role active again. @throws EstateError `not_found`, `wrong_state`; LargeChange. */
export async function restoreRole(run: ChangeRun, typeKey: string, key: string): Promise<JsonText> {
  const { role } = await lockedRole(run, typeKey, key);
  if (!role.is_archived) throw new EstateError('wrong_state', 'The role is not archived.');
  await updateRole(run.work, role, { is_archived: false, archived_at: null, archived_by: null });
  await restateInventory(run);
  return await text(run, typeKey, key);
}

async function lockedRole(
  run: ChangeRun,
  typeKey: string,
  key: string,
): Promise<{ role: StakeholderRoleRow; roles: StakeholderRoleRow[] }> {
  requireType(run, typeKey);
  const roles = await lockRoles(run.work, typeKey);
  const role = roles.find((candidate) => candidate.key === key);
  if (!role) throw notFound('stakeholder role', `${typeKey}/${key}`);
  await checkSeen(run, () => text(run, typeKey, key));
  return { role, roles };
}

function requireType({ work }: ChangeRun, typeKey: string): void {
  if (!work.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
}

async function text({ work, language }: ChangeRun, typeKey: string, key: string): Promise<JsonText> {
  return await readStakeholderRoleDefinition(work.sql, typeKey, key, language);
}

function cleanRole({ translations, ...input }: RoleInput): Partial<StakeholderRoleRow> {
  const faults: FieldError[] = [];
  const values: Partial<StakeholderRoleRow> = { ...input };
  if (input.key !== undefined) unique(new Set(), input.key, 'key', faults);
  if (input.label !== undefined) values.label = input.label.trim();
  if (translations !== undefined) values.translations = roleTranslations('', translations, faults);
  for (const key of Object.keys(input.permissions ?? {})) {
    if (!Object.hasOwn(cardPermissions, key)) {
      faults.push({
        field: `permissions.${key}`,
        code: 'unknown_permission',
        message: 'is no card permission',
      });
    }
  }
  if (faults.length > 0) throw invalidFields(faults);
  return values;
}
