import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { sharedWithMe } from './diagrams.shares.ts';

/**
 * The diagrams that the caller sees, over the alias `d`: a private one is there for its maker, and for those with whom it
 * is shared.
 */
export function visibleDiagrams(ctx: Ctx): Condition {
  const shared = sharedWithMe(ctx);
  return {
    sql: `(d.private_to is null or d.private_to = ?::uuid or ${shared.sql})`,
    bindings: [ctx.caller.userId, ...shared.bindings],
    visibility: true,
  };
}

/** The makers of those of the diagrams that not everybody sees, by the diagram's id. */
export async function ownersOf(sql: Sql, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; private_to: string }[] = await sql('diagrams')
    .whereIn('id', ids)
    .whereNotNull('private_to')
    .select('id', 'private_to');
  return new Map(rows.map((row) => [row.id, row.private_to]));
}
