import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';

/** How many children and related cards an impact names one by one; the counts are of all. */
const IMPACT_NAMED = 200;

/**
 * The relations of the card `self` over the aliases `r` and `c`, its peer: those of shown types with an active,
 * visible card at the other end.
 */
function relatedCards(ctx: Ctx): Fragment {
  const visible = visibleCards(ctx);
  return {
    sql: `from self
          join lateral (
            select o.id as relation_id, o.type as relation_type, o.target_id as peer_id, 'outgoing' as direction
            from relations o where o.source_id = self.id
            union all
            select i.id, i.type, i.source_id, 'incoming' from relations i where i.target_id = self.id
          ) r on r.relation_type = any(?::text[])
          join relation_types t on t.key = r.relation_type
          join cards c on c.id = r.peer_id
          where c.status = 'ACTIVE' and (${visible.sql})`,
    bindings: [
      may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : [],
      ...visible.bindings,
    ],
  };
}

const LABEL = `case r.direction when 'outgoing' then t.label else coalesce(t.reverse_label, t.label) end`;

/**
 * What archiving or deleting a card would touch: active children and descendants, and cards related to it.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readArchiveImpact(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  const related = relatedCards(ctx);
  const rows = await queryRows<{ item: JsonText }>(
    ctx.db,
    `with recursive self as (
       select c.id, c.parent_id from cards c where c.id = ?::uuid and (${visible.sql})
     ), tree as (
       select c.id, c.id as branch, c.approval_status, false as deeper
       from self join cards c on c.parent_id = self.id and c.status = 'ACTIVE'
       union all
       select c.id, tree.branch, c.approval_status, true
       from tree join cards c on c.parent_id = tree.id and c.status = 'ACTIVE'
     ) cycle id set looped using path,
     peers as (
       select c.id, c.name, c.type, c.subtype, c.name_key, r.relation_id, r.relation_type, ${LABEL} as label, r.direction
       ${related.sql}
     )
     select json_build_object(
       'child_count', (select count(*) from tree where not deeper),
       'descendant_count', (select count(*) from tree where not looped),
       'approved_descendant_count', (select count(*) from tree where approval_status = 'APPROVED' and not looped),
       'related_count', (select count(*) from peers),
       'grandparent', (select json_build_object('id', c.id, 'name', c.name, 'type', c.type, 'subtype', c.subtype)
                       from cards c where c.id = self.parent_id and (${visible.sql})),
       'children', coalesce((
         select json_agg(json_build_object('id', k.id, 'name', k.name, 'type', k.type, 'subtype', k.subtype,
             'descendants_count', (select count(*) from tree d where d.branch = k.id and d.deeper and not d.looped),
             'approval_status', k.approval_status) order by k.name_key, k.id)
         from (select c.* from tree join cards c on c.id = tree.id
               where not tree.deeper and (${visible.sql}) order by c.name_key, c.id limit ${IMPACT_NAMED}) k), '[]'),
       'related_cards', coalesce((
         select json_agg(json_build_object('id', p.id, 'name', p.name, 'type', p.type, 'subtype', p.subtype,
             'relation_id', p.relation_id, 'relation_type_key', p.relation_type, 'relation_label', p.label,
             'direction', p.direction) order by p.name_key, p.relation_id)
         from (select * from peers order by name_key, relation_id limit ${IMPACT_NAMED}) p), '[]'))::text as item
     from self`,
    [id, ...visible.bindings, ...related.bindings, ...visible.bindings, ...visible.bindings],
  );
  if (!rows[0]) throw unseenCard(ctx, notFound('card', id));
  return rows[0].item;
}

/**
 * The cards that were archived together with this one and still are; `child` are those below it.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readRestoreImpact(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ item: JsonText }>(
    ctx.db,
    `with recursive self as (
       select c.id, c.archive_batch_id, c.status from cards c where c.id = ?::uuid and (${visible.sql})
     ), below as (
       select c.id from self join cards c on c.parent_id = self.id
       union
       select c.id from below join cards c on c.parent_id = below.id
     )
     select json_build_object('passengers', coalesce((
       select json_agg(json_build_object('id', c.id, 'name', c.name, 'type', c.type, 'subtype', c.subtype,
           'role', case when c.id in (select id from below) then 'child' else 'related' end)
           order by c.name_key, c.id)
       from cards c
       where self.status = 'ARCHIVED' and c.status = 'ARCHIVED' and c.archive_batch_id = self.archive_batch_id
         and c.id <> self.id and (${visible.sql})), '[]'))::text as item
     from self`,
    [id, ...visible.bindings, ...visible.bindings],
  );
  if (!rows[0]) throw unseenCard(ctx, notFound('card', id));
  return rows[0].item;
}

/**
 * How many relations a card has by type and direction, and its place in the hierarchy.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readRelationSummary(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  const related = relatedCards(ctx);
  const rows = await queryRows<{ item: JsonText }>(
    ctx.db,
    `with self as (
       select c.id, c.parent_id from cards c where c.id = ?::uuid and (${visible.sql})
     ), summed as (
       select r.relation_type, ${LABEL} as label, r.direction, c.type as peer_type, t.sort_order, count(*) as number
       ${related.sql} group by r.relation_type, t.key, r.direction, c.type
     )
     select json_build_object(
       'by_type', coalesce((
         select json_agg(json_build_object('relation_type_key', relation_type, 'label', label, 'direction', direction,
             'peer_type_key', peer_type, 'count', number) order by sort_order, relation_type, direction desc)
         from summed), '[]'),
       'hierarchy', json_build_object(
         'children_count', (select count(*) from cards c
                            where c.parent_id = self.id and c.status = 'ACTIVE' and (${visible.sql})),
         'parent_id', p.id, 'parent_name', p.name, 'parent_type', p.type))::text as item
     from self left join lateral (
       select c.id, c.name, c.type from cards c where c.id = self.parent_id and (${visible.sql})) p on true`,
    [id, ...visible.bindings, ...related.bindings, ...visible.bindings, ...visible.bindings],
  );
  if (!rows[0]) throw unseenCard(ctx, notFound('card', id));
  return rows[0].item;
}
