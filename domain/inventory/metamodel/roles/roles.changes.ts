import { query } from '../../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { differingMembers, rowEvent } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import {
  StakeholderRoleDefinition,
  type StakeholderRoleRow,
} from '../../../kernel/metamodel/metamodel.model.ts';
import { loadMetamodel, METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import type { Translations } from '../../../kernel/metamodel/metamodel.types.ts';
import { cardPermissions } from '../../../kernel/permissions/permissions.data.ts';
import { deleteRows, findRows, insertRow, updateRow } from '../../../kernel/resources/rows.ts';
import { type CardTypeInput, unique } from '../card-types/card-types.rules.ts';
import { updateInventory } from '../changes/changes.inventory.ts';
import { type ChangeRun, checkSeen, requireChangeRights } from '../changes/changes.types.ts';
import { cleanTranslations, readStakeholderRoleDefinition } from '../metamodel.list.ts';
import { stakeholderRoleSeeds } from '../metamodel.seeds.data.ts';

type RoleInput = Partial<
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
  await updateInventory(run);
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
  requireChangeRights(run.ctx, run.work.metamodel, await loadMetamodel(run.work.sql));
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
  await updateInventory(run);
  return await text(run, typeKey, key);
}

/** Restores an archived role. @throws EstateError `not_found`, `wrong_state`; LargeChange. */
export async function restoreRole(run: ChangeRun, typeKey: string, key: string): Promise<JsonText> {
  const { role } = await lockedRole(run, typeKey, key);
  if (!role.is_archived) throw new EstateError('wrong_state', 'The role is not archived.');
  await updateRole(run.work, role, { is_archived: false, archived_at: null, archived_by: null });
  await updateInventory(run);
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
  const errors: FieldError[] = [];
  const values: Partial<StakeholderRoleRow> = { ...input };
  if (input.key !== undefined) unique(new Set(), input.key, 'key', errors);
  if (input.label !== undefined) values.label = input.label.trim();
  if (translations !== undefined) values.translations = roleTranslations('', translations, errors);
  for (const key of Object.keys(input.permissions ?? {})) {
    if (!Object.hasOwn(cardPermissions, key)) {
      const message = 'is no card permission';
      errors.push({ field: `permissions.${key}`, code: 'unknown_permission', message });
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
  return values;
}

async function emit(work: Work, before: StakeholderRoleRow | null, after: StakeholderRoleRow | null) {
  const { id, card_type_key, key, label } = (after ?? before)!;
  work.emit(rowEvent('stakeholder_role', before, after, { id, card_type_key, key, label }));
  work.raise(METAMODEL_TOPIC);
  await work.extensions.stakeholdersChanged(work, card_type_key);
}

/** All roles of a type, archived ones included, locked and in order. */
export async function lockRoles({ sql }: Work, typeKey: string): Promise<StakeholderRoleRow[]> {
  return await findRows(sql, StakeholderRoleDefinition, (query) =>
    query.where({ card_type_key: typeKey }).orderBy(['sort_order', 'key']).forUpdate(),
  );
}

export async function insertRole(
  work: Work,
  values: Partial<StakeholderRoleRow>,
): Promise<StakeholderRoleRow> {
  const row = await insertRow(work.sql, StakeholderRoleDefinition, values);
  await emit(work, null, row);
  return row;
}

/** Updates columns of a role, unless they have these values already. @returns whether it wrote. */
export async function updateRole(
  work: Work,
  before: StakeholderRoleRow,
  values: Partial<StakeholderRoleRow>,
): Promise<boolean> {
  const changed = differingMembers(before, values);
  if (Object.keys(changed).length === 0) return false;
  await emit(work, before, await updateRow(work.sql, StakeholderRoleDefinition, { id: before.id }, changed));
  return true;
}

export async function deleteRole(work: Work, before: StakeholderRoleRow): Promise<void> {
  await deleteRows(work.sql, StakeholderRoleDefinition, (query) => query.where({ id: before.id }));
  await emit(work, before, null);
}

/** The number of assignments of a role of the type. */
export async function countHolders({ sql }: Work, typeKey: string, roleKey: string): Promise<number> {
  return await query(sql).value<number>`select count(*) from stakeholders s join cards c on c.id = s.card_id
     where s.role = ${roleKey} and c.type = ${typeKey}`;
}

type WantedRole = NonNullable<CardTypeInput['stakeholder_roles']>[number];
type CleanRole = Omit<WantedRole, 'translations'> & { translations?: Translations };

/** The roles of a type for which none are given. */
const defaultRoles: WantedRole[] = [
  { key: 'responsible', label: 'Responsible' },
  { key: 'observer', label: 'Observer' },
];

/** The default rights of a role with this key. */
function defaultRights(key: string): Record<string, boolean> {
  const rights = Object.hasOwn(stakeholderRoleSeeds, key) ? stakeholderRoleSeeds[key]! : [];
  return Object.fromEntries(rights.map((right) => [right, true]));
}

/** Inserts the roles of a new type. */
export async function createRoles(
  work: Work,
  typeKey: string,
  wanted: CardTypeInput['stakeholder_roles'],
): Promise<void> {
  const roles = cleanRoles(wanted?.length ? wanted : defaultRoles);
  for (const [sort_order, role] of roles.entries()) {
    const permissions = defaultRights(role.key);
    await insertRole(work, { card_type_key: typeKey, ...role, permissions, sort_order });
  }
}

/**
 * Makes the given roles the active roles of a type, in their order. An omitted role is deleted if it is not assigned;
 * an archived one that is given again is restored.
 * @throws EstateError `role_in_use`, `last_active_role`, `validation_failed`.
 * @returns whether anything was written.
 */
export async function syncRoles(work: Work, typeKey: string, wanted: WantedRole[]): Promise<boolean> {
  const roles = cleanRoles(wanted);
  if (roles.length === 0) throw lastActiveRole();
  const stored = await lockRoles(work, typeKey);
  const keys = new Set(roles.map(({ key }) => key));
  let written = false;
  for (const role of stored) {
    if (role.is_archived || keys.has(role.key)) continue;
    const holders = await countHolders(work, typeKey, role.key);
    if (holders > 0) {
      throw new EstateError(
        'role_in_use',
        `The role ${role.key} is held ${holders} times: remove its stakeholders, or archive the role.`,
        { extra: { role_key: role.key, stakeholder_count: holders } },
      );
    }
    await deleteRole(work, role);
    written = true;
  }
  const ordered = stored.filter((role) => keys.has(role.key)).map((role) => role.key);
  const reordered = JSON.stringify(ordered) !== JSON.stringify(roles.map(({ key }) => key));
  for (const [index, role] of roles.entries()) {
    const before = stored.find(({ key }) => key === role.key);
    const order = reordered ? { sort_order: index } : {};
    if (!before) {
      const permissions = defaultRights(role.key);
      await insertRole(work, { card_type_key: typeKey, ...role, permissions, sort_order: index });
      written = true;
    } else {
      const active = { is_archived: false, archived_at: null, archived_by: null };
      written = (await updateRole(work, before, { ...role, ...active, ...order })) || written;
    }
  }
  return written;
}

function cleanRoles(wanted: WantedRole[]): CleanRole[] {
  const errors: FieldError[] = [];
  const keys = new Set<string>();
  const clean = wanted.map((role, index) => {
    const path = `stakeholder_roles.${index}`;
    unique(keys, role.key, `${path}.key`, errors);
    const { translations, ...plain } = role;
    return {
      ...plain,
      label: role.label.trim(),
      ...(translations === undefined ? {} : { translations: roleTranslations(path, translations, errors) }),
    };
  });
  if (errors.length > 0) throw invalidFields(errors);
  return clean;
}

/** The translations of a role's label and description. */
function roleTranslations(path: string, value: unknown, errors: FieldError[]) {
  const field = path === '' ? 'translations' : `${path}.translations`;
  return cleanTranslations(field, value, ['label', 'description'], errors);
}

/** The error for a type without an active role. */
function lastActiveRole(): EstateError {
  return new EstateError('last_active_role', 'A card type keeps at least one active stakeholder role.');
}
