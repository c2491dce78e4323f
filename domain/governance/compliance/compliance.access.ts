import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** @throws EstateError `forbidden`. */
export function requireReader(ctx: Ctx): void {
  requirePermission(ctx.caller, 'compliance.view');
  requirePermission(ctx.caller, 'grc.view');
}

/** @throws EstateError `forbidden`. */
export function requireMaintainer(ctx: Ctx): void {
  requirePermission(ctx.caller, 'compliance.manage');
  requirePermission(ctx.caller, 'grc.manage');
}

/**
 * The findings that the caller sees, over the aliases `f` of `compliance_findings` and `c` of the card that may be joined
 * to it: those about the landscape, and those on cards that the caller sees.
 */
export function visibleFindings(ctx: Ctx): Condition {
  const { sql, bindings } = visibleCards(ctx);
  return { sql: `(f.card_id is null or (${sql}))`, bindings, visibility: true };
}

/** Those that stand: not resolved by a scan, and on no archived card. Over the same aliases. */
export const standing: Condition = {
  sql: `not f.auto_resolved and coalesce(c.status, 'ACTIVE') = 'ACTIVE'`,
  bindings: [],
};
