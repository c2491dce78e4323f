import { EstateError, type FieldError, invalidFields } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import type { Translations } from '../../../kernel/metamodel/metamodel.types.ts';
import type { CardTypeInput } from '../card-types/card-types.rules.ts';
import { unique } from '../card-types/card-types.rules.ts';
import { stakeholderRoleSeeds } from '../metamodel.seeds.data.ts';
import { cleanTranslations } from '../translations.ts';
import { countHolders, deleteRole, insertRole, lockRoles, updateRole } from './roles.rows.ts';

type WantedRole = NonNullable<CardTypeInput['stakeholder_roles']>[number];
type CleanRole = Omit<WantedRole, 'translations'> & { translations?: Translations };

/** The roles of a type that names none. */
const defaultRoles: WantedRole[] = [
  { key: 'responsible', label: 'Responsible' },
  { key: 'observer', label: 'Observer' },
];

/** The default rights of a role with this key. */
function defaultRights(key: string): Record<string, boolean> {
  const rights = Object.hasOwn(stakeholderRoleSeeds, key) ? stakeholderRoleSeeds[key]! : [];
  return Object.fromEntries(rights.map((right) => [right, true]));
}

/** Gives a new type its roles. */
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
 * Makes the active roles of a type the wanted ones, in their order. A role that is left out is deleted when nobody
 * holds it; an archived one that is wanted again is restored.
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
  const faults: FieldError[] = [];
  const keys = new Set<string>();
  const clean = wanted.map((role, index) => {
    const path = `stakeholder_roles.${index}`;
    unique(keys, role.key, `${path}.key`, faults);
    const { translations, ...plain } = role;
    return {
      ...plain,
      label: role.label.trim(),
      ...(translations === undefined ? {} : { translations: roleTranslations(path, translations, faults) }),
    };
  });
  if (faults.length > 0) throw invalidFields(faults);
  return clean;
}

/** The translations of a role's label and description. */
export function roleTranslations(path: string, value: unknown, faults: FieldError[]) {
  const field = path === '' ? 'translations' : `${path}.translations`;
  return cleanTranslations(field, value, ['label', 'description'], faults);
}

/** The refusal to leave a type without an active role. */
export function lastActiveRole(): EstateError {
  return new EstateError('last_active_role', 'A card type keeps at least one active stakeholder role.');
}
