import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import {
  type AppPermission,
  appPermissionOf,
  appPermissions,
  cardPermissions,
} from '../../kernel/permissions/permissions.data.ts';
import { cardRights, inScope, may, seesCosts } from '../../kernel/permissions/policy.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';

export interface MyCardPermissions {
  app_level: Record<string, boolean>;
  stakeholder_roles: string[];
  card_level: Record<string, boolean>;
  effective: Record<string, boolean>;
}

/** What the caller may do on one card, and where from. @throws EstateError `not_found`, `forbidden`. */
export async function readMyPermissions(ctx: Ctx, id: string): Promise<MyCardPermissions> {
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ type: string; roles: string[] }>(
    ctx.db,
    `select c.type, array(select s.role from stakeholders s where s.card_id = c.id and s.user_id = ?::uuid
                          order by s.role) as roles
     from cards c where c.id = ?::uuid and (${visible.sql})`,
    [ctx.caller.userId, id, ...visible.bindings],
  );
  const [card] = rows;
  if (!card) throw unseenCard(ctx, notFound('card', id));
  const held = cardRights(ctx, card.type, card.roles);
  const effective = Object.fromEntries(
    Object.entries(appPermissionOf).map(([key, app]) => [
      key.replace('card.', 'can_'),
      may(ctx.caller, app) || (inScope(ctx.caller, app) && held.has(key)),
    ]),
  );
  return {
    app_level: Object.fromEntries(
      (Object.keys(appPermissions) as AppPermission[]).map((key) => [key, may(ctx.caller, key)]),
    ),
    stakeholder_roles: card.roles,
    card_level: Object.fromEntries(Object.keys(cardPermissions).map((key) => [key, held.has(key)])),
    effective: { ...effective, can_view_costs: seesCosts(ctx, { id, type: card.type, myRoles: card.roles }) },
  };
}
