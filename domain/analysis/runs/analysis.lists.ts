import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { withLiterals } from '../../../platform/literals.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { itemsOf } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** Conditions that SQL expressions have the given values; those with the value undefined are omitted. */
export const equalTo = (values: Readonly<Record<string, unknown>>): Condition[] =>
  Object.entries(values).flatMap(([sql, value]) =>
    value === undefined ? [] : [{ sql: `${sql} = ?`, bindings: [value] }],
  );

/** One item of a list with all members. @throws EstateError `not_found`. */
export async function readItem(
  sql: Sql,
  spec: ListSpec,
  name: string,
  id: string,
  where: Condition[] = [],
): Promise<JsonText> {
  const [item] = await itemsOf({ sql, spec, where, item: projection(spec.members, undefined) }, [
    id.toLowerCase(),
  ]);
  if (item === undefined) throw notFound(name, id);
  return item;
}

/** Results of analyses reveal cards and relations, so they need the rights to both. @throws EstateError `forbidden`. */
export function requireFindings(ctx: Ctx): void {
  requirePermission(ctx.caller, 'ai_analysis.view');
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
}

/** The active cards that the caller sees, over the alias `c`, for SQL without bindings. */
export function seenCards(ctx: Ctx): string {
  const { sql, bindings } = visibleCards(ctx);
  // an unescaped question mark would be a binding
  return `c.status = 'ACTIVE' and (${withLiterals(sql, bindings).replaceAll('?', '\\?')})`;
}
