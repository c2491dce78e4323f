import type { Ctx } from '../../../kernel/context.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { requireGrantable } from '../../../kernel/permissions/grants.ts';
import { appPermissionOf, type CardPermission } from '../../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';

/** A type as far as its costs go. */
interface Costly {
  fields: ReadonlyMap<string, unknown>;
  costKeys: readonly string[];
}

/**
 * Refuses a change of the metamodel that leads to rights which the caller does not hold: a stakeholder role that gains
 * rights on the cards of a type needs the application permissions for them, and a field that stops being a cost, and
 * is shown to everybody from then on, needs `costs.view`.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export function requireChangeReach({ caller }: Ctx, before: Metamodel, after: Metamodel): void {
  for (const [key, type] of after.cardTypes) {
    const old = before.cardTypes.get(key);
    if (!old) continue;
    const rights = new Map(old.stakeholderRoles.map((role) => [role.key, role.permissions]));
    for (const { key: role, permissions } of type.stakeholderRoles) {
      const gained = ([...permissions] as CardPermission[]).filter((right) => !rights.get(role)?.has(right));
      requireGrantable(caller, Object.fromEntries(gained.map((right) => [appPermissionOf[right], true])));
    }
  }
  if (
    showsCosts(before.cardTypes, after.cardTypes) ||
    showsCosts(before.relationTypes, after.relationTypes)
  ) {
    requirePermission(caller, 'costs.view');
  }
}

/** Whether a field stays and is a cost no longer. */
function showsCosts(before: ReadonlyMap<string, Costly>, after: ReadonlyMap<string, Costly>): boolean {
  return [...after].some(([key, { fields, costKeys }]) =>
    before.get(key)?.costKeys.some((field) => fields.has(field) && !costKeys.includes(field)),
  );
}
