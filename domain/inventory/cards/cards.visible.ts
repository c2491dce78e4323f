import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { forbidden, may, userWithinScope } from '../../kernel/permissions/policy.ts';

/**
 * A condition over the alias `c` of `cards` that selects the cards visible to the caller; every read of cards uses it.
 * With `inventory.view` these are all cards of visible types; without it, the cards on which a stakeholder role of the
 * caller gives `card.view`.
 */
export function visibleCards(ctx: Ctx): Condition {
  const { hiddenTypes } = ctx.metamodel;
  if (may(ctx.caller, 'inventory.view')) {
    return hiddenTypes.length === 0
      ? { sql: 'true', bindings: [], visibility: true }
      : { sql: 'c.type <> all(?::text[])', bindings: [hiddenTypes], visibility: true };
  }
  const types: string[] = [];
  const roles: string[] = [];
  for (const key of ctx.metamodel.visibleTypes) {
    for (const role of ctx.metamodel.cardTypes.get(key)!.stakeholderRoles) {
      if (!role.permissions.has('card.view')) continue;
      types.push(key);
      roles.push(role.key);
    }
  }
  return {
    sql: `exists (select from stakeholders v
            join unnest(?::text[], ?::text[]) as allowed (type, role) on allowed.role = v.role
            where v.card_id = c.id and v.user_id = ?::uuid and allowed.type = c.type)`,
    bindings: [types, roles, userWithinScope(ctx.caller, 'inventory.view')],
    visibility: true,
  };
}

/** The error for a card that {@link visibleCards} does not select. */
export function invisibleCardError(ctx: Ctx, notFound: Error): Error {
  return may(ctx.caller, 'inventory.view') ? notFound : forbidden('inventory.view');
}
