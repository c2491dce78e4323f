import { withLiterals } from '../../../platform/literals.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** Conditions that SQL expressions have the given values; those with the value undefined are omitted. */
export const equalTo = (values: Readonly<Record<string, unknown>>): Condition[] =>
  Object.entries(values).flatMap(([sql, value]) =>
    value === undefined ? [] : [{ sql: `${sql} = ?`, bindings: [value] }],
  );

/** Results of analyses reveal cards and relations, so both permissions are required. @throws EstateError `forbidden`. */
export function requireFindings(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ai_analysis.view');
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
}

/** The visible active cards, over the alias `c`, for SQL without bindings. */
export function visibleCardsSql(ctx: Ctx): string {
  const { sql, bindings } = visibleCards(ctx);
  // An unescaped question mark would be a binding.
  return `c.status = 'ACTIVE' and (${withLiterals(sql, bindings).replaceAll('?', '\\?')})`;
}
