import { embed, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { may, seesCosts } from '../../kernel/permissions/policy.ts';
import { visibleRelationAttributes } from '../relations/relations.list.ts';
import { loadCards, requireCard, typeOf } from './cards.load.ts';
import { visibleCards } from './cards.projection.ts';
import { missingForApproval, qualityGaps } from './rules/quality.ts';

/**
 * The relations of a card with active, visible cards, by type and direction in the order of the metamodel; of each
 * the first `size` by name. Undefined without `relations.view`.
 */
export async function relationGroups(ctx: Ctx, id: string, size: number): Promise<JsonText | undefined> {
  if (!may(ctx.caller, 'relations.view')) return undefined;
  return await query(ctx.db).value<JsonText>`with ends as (
       select o.id, 'outgoing' as direction, o.target_id as peer_id from relations o where o.source_id = ${id}::uuid
       union all
       select i.id, 'incoming', i.source_id from relations i where i.target_id = ${id}::uuid
     ), peers as (
       select t.sort_order, r.type, e.direction, json_build_object(
           'relation_id', r.id, 'description', r.description, 'attributes', ${embed(visibleRelationAttributes(ctx))},
           'card', json_build_object('id', c.id, 'type', c.type, 'subtype', c.subtype, 'name', c.name,
             'lifecycle', c.lifecycle, 'approval_status', c.approval_status, 'data_quality', c.data_quality)) as item,
         row_number() over by_name as n, count(*) over (partition by r.type, e.direction) as number,
         case e.direction when 'outgoing' then t.label else coalesce(t.reverse_label, t.label) end as label
       from ends e join relations r on r.id = e.id join relation_types t on t.key = r.type
         join cards c on c.id = e.peer_id
       where r.type = any(${ctx.metamodel.visibleRelationTypes}::text[]) and c.status = 'ACTIVE'
         and (${embed(visibleCards(ctx))})
       window by_name as (partition by r.type, e.direction order by c.name_key, r.id)
     ), groups as (
       select sort_order, type, direction, json_build_object('relation_type_key', type, 'direction', direction,
         'label', min(label), 'count', min(number), 'items', json_agg(item order by n)) as item
       from peers where n <= ${size} group by sort_order, type, direction
     )
     select coalesce(json_agg(item order by sort_order, type, direction desc), '[]')::text from groups`;
}

/** What a visible card lacks for a data quality of 100 and for its approval. */
export async function readQuality(ctx: Ctx, id: string) {
  const card = requireCard(await loadCards({ sql: ctx.db, metamodel: ctx.metamodel }, ctx, [id]), id);
  const type = typeOf(ctx.metamodel, card);
  const gaps = qualityGaps(type, card, card.filled);
  return {
    data_quality: card.data_quality,
    gaps: seesCosts(ctx, card)
      ? gaps
      : gaps.filter(({ key }) => key === null || !type.costKeys.includes(key)),
    approval: missingForApproval(type, card.filled),
  };
}
