import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { forbidden, holderWithin, may } from '../../kernel/permissions/policy.ts';

/**
 * The cards that the caller sees, as a condition over the alias `c` of `cards`: every read of cards starts
 * here. With `inventory.view` that is every card of a type that is not hidden; without it the cards on which a
 * stakeholder role of the caller gives `card.view`.
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
    bindings: [types, roles, holderWithin(ctx.caller, 'inventory.view')],
    visibility: true,
  };
}

/** What a read of one card is refused with when {@link visibleCards} does not yield it. */
export function unseenCard(ctx: Ctx, notFound: Error): Error {
  return may(ctx.caller, 'inventory.view') ? notFound : forbidden('inventory.view');
}
