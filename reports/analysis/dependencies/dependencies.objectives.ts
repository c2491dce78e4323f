import { OBJECTIVE } from '../../../domain/analysis/architect/architect.words.ts';
import { raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { activeCards } from '../../kernel/report.cards.ts';
import { cardsAround } from './dependencies.around.ts';
import { graphOf } from './dependencies.graph.ts';

const MAX_OBJECTIVES = 50;

/**
 * Reads the cards within some relations of objectives, and the relations between them, in the form of the dependencies report.
 * @param ids comma-separated; empty: an empty graph.
 * @throws EstateError `forbidden`, `validation_failed`, `not_found` for an id that is not a visible active objective.
 */
export async function readObjectiveDependencies(ctx: Ctx, ids: string, depth: number): Promise<JsonText> {
  requirePermission(ctx.caller, 'relations.view');
  const asked = ids.split(',').flatMap((id) => id.trim().toLowerCase() || []);
  const centers = [...new Set(asked)];
  const malformed = centers.some((id) => !isUuid(id));
  if (malformed) throw invalidField('objective_ids', 'malformed', 'contains an invalid id');
  if (centers.length > MAX_OBJECTIVES) {
    throw invalidField('objective_ids', 'too_many', `names more than ${MAX_OBJECTIVES} objectives`);
  }
  if (centers.length === 0) return '{"nodes":[],"edges":[]}';
  const active = { ...activeCards(ctx), total: false };
  const list = (item: string, from: string) => raw(`coalesce(string_agg(${item}, ','), '') ${from}`);
  const read = async (db: Sql): Promise<JsonText> => {
    const around = await cardsAround(db, ctx, { centers, depth }, active, active);
    const graph = graphOf(ctx, { around }, active, active);
    const statement = sql`${graph.tables}
      select array(select c.id::text from cards c where c.id = any(${centers}::uuid[]) and c.type = ${OBJECTIVE}
          and ${active}) as found,
        '{"nodes":[' || (select ${list(graph.node, graph.nodes)}) || '],"edges":['
          || (select ${list(graph.edge, graph.edges)}) || ']}' as answer`;
    const rows = await query(db).rows<{ found: string[]; answer: JsonText }>`${embed(statement)}`;
    const missing = centers.find((id) => !rows[0]!.found.includes(id));
    if (missing) throw notFound('objective', missing);
    return rows[0]!.answer;
  };
  return await ctx.db.transaction(read, { isolationLevel: 'repeatable read', readOnly: true });
}
