import { may } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Condition } from '../../domain/lists/lists.types.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { type CardSelection, selectedCards } from './extraction.cards.ts';
import { rowShaper, shapedBatches } from './extraction.shape.ts';
import { numbered } from './extraction.sql.ts';
import type { Column, Table } from './extraction.types.ts';

const BATCH = 4_000;

const members = {
  id: 'r.id',
  type: 'r.type',
  source_id: 'r.source_id',
  source_external_id: 's.external_id',
  source_name: 's.name',
  source_type: 's.type',
  target_id: 'r.target_id',
  target_external_id: 't.external_id',
  target_name: 't.name',
  target_type: 't.type',
  description: 'r.description',
} as const;

/** The attributes of the relation `r` that the caller may see: costs by permission, or by a role on either end. */
export function visibleRelationAttributes(ctx: Ctx): { sql: string; bindings: unknown[] } {
  if (may(ctx.caller, 'costs.view')) return { sql: 'r.attributes', bindings: [] };
  const costs = Object.fromEntries(
    [...ctx.metamodel.relationTypes.values()]
      .filter((type) => type.costKeys.length > 0)
      .map((type) => [type.key, type.costKeys]),
  );
  return {
    sql: `case when exists (select from stakeholders h where h.user_id = ?::uuid and h.card_id in (r.source_id, r.target_id))
          then r.attributes else r.attributes - array(select jsonb_array_elements_text(?::jsonb -> r.type)) end`,
    bindings: [ctx.caller.userId, JSON.stringify(costs)],
  };
}

/** Where the relations stand of which both ends are among the selected cards: as `r`, with the cards `s` and `t`. */
export function selectedRelations(
  ctx: Ctx,
  types: string[],
  selection: CardSelection,
): { from: string; where: Condition } {
  const cards = selectedCards(ctx, selection);
  return {
    from: 'relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id',
    where: {
      sql: `r.type = any(?::text[]) and s.id in (select c.id from cards c where ${cards.sql})
        and t.id in (select c.id from cards c where ${cards.sql})`,
      bindings: [types, ...cards.bindings, ...cards.bindings],
    },
  };
}

/** The relations of which both ends are among the selected cards, as a table. */
export async function relationTable(
  snapshot: Snapshot,
  ctx: Ctx,
  types: string[],
  selection: CardSelection,
  columns: Column[],
): Promise<Table> {
  const attributes = visibleRelationAttributes(ctx);
  const { from, where } = selectedRelations(ctx, types, selection);
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(
    numbered(`select count(*)::int as n from ${from} where ${where.sql}`),
    where.bindings,
  );
  const fixed = columns.flatMap(({ header }) => (header in members ? [header as keyof typeof members] : []));
  const list = [`${attributes.sql} as attributes`, ...fixed.map((name) => members[name])];
  const rows = snapshot.batches(
    numbered(`select ${list.join(', ')} from ${from} where ${where.sql} order by r.id`),
    [...attributes.bindings, ...where.bindings],
    BATCH,
  );
  const shape = rowShaper(columns, ({ header }) =>
    header.startsWith('attributes.')
      ? { place: 0, member: header.slice('attributes.'.length) }
      : { place: 1 + fixed.indexOf(header as keyof typeof members) },
  );
  return { name: 'Relations', columns, total, batches: shapedBatches(rows, columns.length, shape) };
}
