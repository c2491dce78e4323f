import { notFound } from '../../platform/errors.ts';
import {
  type AppPermission,
  appPermissions,
  type CardPermission,
  cardPermissions,
} from '../access/permissions.data.ts';
import { cardRights, may } from '../access/policy.ts';
import type { Ctx } from '../context.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';

/** The application permission that allows on every card what a card permission allows on one. */
const pairs: Record<string, [CardPermission, AppPermission]> = {
  can_view: ['card.view', 'inventory.view'],
  can_edit: ['card.edit', 'inventory.edit'],
  can_archive: ['card.archive', 'inventory.archive'],
  can_delete: ['card.delete', 'inventory.delete'],
  can_approval_status: ['card.approval_status', 'inventory.approval_status'],
  can_manage_stakeholders: ['card.manage_stakeholders', 'stakeholders.manage'],
  can_manage_relations: ['card.manage_relations', 'relations.manage'],
  can_manage_documents: ['card.manage_documents', 'documents.manage'],
  can_manage_comments: ['card.manage_comments', 'comments.manage'],
  can_create_comments: ['card.create_comments', 'comments.create'],
  can_bpm_edit: ['card.bpm_edit', 'bpm.edit'],
  can_bpm_manage_drafts: ['card.bpm_manage_drafts', 'bpm.manage_drafts'],
  can_bpm_approve: ['card.bpm_approve', 'bpm.approve_flows'],
  can_manage_adr_links: ['card.manage_adr_links', 'adr.manage'],
  can_manage_diagram_links: ['card.manage_diagram_links', 'diagrams.manage'],
};

export interface MyCardPermissions {
  app_level: Record<string, boolean>;
  stakeholder_roles: string[];
  card_level: Record<string, boolean>;
  effective: Record<string, boolean>;
}

/** What the caller may do on one card, and where from. @throws EstateError `not_found`, `forbidden`. */
export async function readMyPermissions(ctx: Ctx, id: string): Promise<MyCardPermissions> {
  const visible = visibleCards(ctx);
  const { rows } = await ctx.db.raw(
    `select c.type, array(select s.role from stakeholders s where s.card_id = c.id and s.user_id = ?::uuid
                          order by s.role) as roles
     from cards c where c.id = ?::uuid and (${visible.sql})`,
    [ctx.caller.userId, id, ...visible.bindings] as never,
  );
  const card = rows[0] as { type: string; roles: string[] } | undefined;
  if (!card) throw unseenCard(ctx, notFound('card', id));
  const held = cardRights(ctx, card.type, card.roles);
  const effective = Object.fromEntries(
    Object.entries(pairs).map(([name, [onCard, app]]) => [name, may(ctx.caller, app) || held.has(onCard)]),
  );
  return {
    app_level: Object.fromEntries(
      (Object.keys(appPermissions) as AppPermission[]).map((key) => [key, may(ctx.caller, key)]),
    ),
    stakeholder_roles: card.roles,
    card_level: Object.fromEntries(Object.keys(cardPermissions).map((key) => [key, held.has(key)])),
    effective: { ...effective, can_view_costs: may(ctx.caller, 'costs.view') || card.roles.length > 0 },
  };
}
