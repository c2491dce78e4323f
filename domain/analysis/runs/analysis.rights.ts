import { withLiterals } from '../../../platform/literals.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** Whoever reads findings reads of cards and of what they are related to. @throws EstateError `forbidden`. */
export function requireFindings(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ai_analysis.view');
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
}

/** The active cards that the caller sees, over the alias `c`, for places that take no bindings. */
export function seenCards(ctx: Ctx): string {
  const { sql, bindings } = visibleCards(ctx);
  // a question mark would be taken for a binding
  return `c.status = 'ACTIVE' and (${withLiterals(sql, bindings).replaceAll('?', '\\?')})`;
}
