import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { eventListOf } from '../../kernel/events/events.queries.ts';
import { readableTypes, visibleData, visibleEvents } from '../../kernel/events/events.visible.ts';
import { withTimeLimit } from '../../kernel/lists/lists.limit.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import {
  appPermissionOf,
  cardPermissions,
  permissionKeys,
} from '../../kernel/permissions/permissions.data.ts';
import { cardRights, inScope, may, seesCosts } from '../../kernel/permissions/policy.ts';
import { prepareFilter } from '../filters/filters.prepare.ts';
import { type CardFilter, cardFilter } from './cards.filter.ts';
import { cardText, invisibleCardError, visibleCards } from './cards.projection.ts';
import { survivingCard, withMerged } from './merge/merge.redirect.ts';
import { cardNumberKey } from './rules/numbers.ts';

/** One card with tags and stakeholders. @throws EstateError `not_found`, `forbidden`. */
export async function readCard(ctx: Ctx, id: string): Promise<JsonText> {
  return await cardText(ctx.db, ctx, id);
}

/** {@link readCard} by the card's number; that of a merged card leads to the surviving one. */
export async function readCardByNumber(ctx: Ctx, number: string): Promise<JsonText> {
  const key = cardNumberKey(number) ?? '';
  const id = await query(ctx.db).value<string | undefined>`select coalesce(
    (select c.id from cards c where card_number_key(c.number) = ${key} and (${embed(visibleCards(ctx))})),
    (select ${embed(survivingCard('r.card_id'))} from card_redirects r where card_number_key(r.number) = ${key})) as id`;
  if (!id) throw invisibleCardError(ctx, new EstateError('not_found', `There is no card ${number}.`));
  return await cardText(ctx.db, ctx, id);
}

interface CardCounts {
  by_type: { type: string; count: number }[];
  total: number;
}

const KEPT_BYTES = 2 * 1024 * 1024;

/** Creates a cache of counts that are valid until cards change. */
export function createCountCache(): ResultCache<CardCounts> {
  return createResultCache(KEPT_BYTES, (counts) => 100 * counts.by_type.length);
}

/**
 * The number of cards that match the filters (by default the active ones) by type, for every visible type in the
 * metamodel's order. `topics` are the versions read after the request arrived: counts are queried again only after a
 * change.
 */
export async function countCards(
  ctx: Ctx,
  params: CardFilter & { filter?: string },
  topics: ReadonlyMap<string, number>,
  kept: ResultCache<CardCounts>,
): Promise<CardCounts> {
  const conditions = [visibleCards(ctx), ...cardFilter(ctx, params).owned.map(({ condition }) => condition)];
  const filter = params.filter === undefined ? undefined : await prepareFilter(ctx, params.filter);
  if (filter) conditions.push(filter);
  const types = ctx.metamodel.visibleTypes;
  // filters can read other data than cards
  const isPlain = filter === undefined && params.mine === undefined;
  const versions = isPlain ? types.map((type) => [type, topics.get(`cards:${type}`) ?? 0]) : [...topics];
  return await kept.get(JSON.stringify([versions, conditions]), () =>
    withTimeLimit(ctx.db, (sql) => count(sql, ctx, conditions)),
  );
}

async function count(sql: Sql, ctx: Ctx, conditions: Condition[]): Promise<CardCounts> {
  const rows = await query(sql).rows<{ type: string; count: number }>`select c.type, count(*) as count
    from cards c${embed(whereClause(conditions))} group by c.type`;
  const counts = new Map(rows.map(({ type, count }) => [type, count]));
  const byType = ctx.metamodel.visibleTypes.map((type) => ({ type, count: counts.get(type) ?? 0 }));
  return { by_type: byType, total: byType.reduce((sum, { count }) => sum + count, 0) };
}

/** The caller's permissions on one card, and where each comes from. @throws EstateError `not_found`, `forbidden`. */
export async function readMyPermissions(ctx: Ctx, id: string) {
  const rows = await query(ctx.db).rows<{ type: string; roles: string[] }>`select c.type, array(select s.role
    from stakeholders s where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid
                          order by s.role) as roles
     from cards c where c.id = ${id}::uuid and (${embed(visibleCards(ctx))})`;
  const [card] = rows;
  if (!card) throw invisibleCardError(ctx, notFound('card', id));
  const held = cardRights(ctx, card.type, card.roles);
  const effective = Object.fromEntries(
    Object.entries(appPermissionOf).map(([key, app]) => [
      key.replace('card.', 'can_'),
      may(ctx.caller, app) || (inScope(ctx.caller, app) && held.has(key)),
    ]),
  );
  return {
    app_level: Object.fromEntries(permissionKeys.map((key) => [key, may(ctx.caller, key)])),
    stakeholder_roles: card.roles,
    card_level: Object.fromEntries(Object.keys(cardPermissions).map((key) => [key, held.has(key)])),
    effective: { ...effective, can_view_costs: seesCosts(ctx, { id, type: card.type, myRoles: card.roles }) },
  };
}

/**
 * The place of a card in the hierarchy: all its ancestors, root first, its level (a root is 1), and one page of its
 * children in the same state (active or archived), by name.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readHierarchy(
  ctx: Ctx,
  id: string,
  params: { page: number; page_size: number },
): Promise<JsonText> {
  const visible = visibleCards(ctx);
  return await ofVisibleCard(
    ctx,
    id,
    fragment`with recursive self as (
       select c.id, c.parent_id, c.status from cards c where c.id = ${id}::uuid and (${embed(visible)})
     ), chain as (
       select c.id, c.parent_id, c.name, c.type, 1 as distance
       from self join cards c on c.id = self.parent_id
       union all
       select c.id, c.parent_id, c.name, c.type, chain.distance + 1
       from chain join cards c on c.id = chain.parent_id
     ) cycle id set looped using path,
     ancestors as (
       select json_agg(json_build_object('id', c.id, 'name', c.name, 'type', c.type) order by chain.distance desc)
                filter (where ${embed(visible)}) as list,
              count(*) as number
       from chain join cards c on c.id = chain.id where not chain.looped
     )
     select json_build_object(
         'ancestors', coalesce(ancestors.list, '[]'),
         'children', coalesce((
           select json_agg(json_build_object('id', k.id, 'name', k.name, 'type', k.type) order by k.name_key, k.id)
           from (select c.id, c.name, c.type, c.name_key from cards c
                 where c.parent_id = self.id and c.status = self.status and (${embed(visible)})
                 order by c.name_key, c.id limit ${params.page_size} offset ${(params.page - 1) * params.page_size}) k), '[]'),
         'children_total', (select count(*) from cards c
                            where c.parent_id = self.id and c.status = self.status and (${embed(visible)})),
         'page', ${params.page}::int, 'page_size', ${params.page_size}::int,
         'level', ancestors.number + 1)::text as item
     from self, ancestors`,
  );
}

/** The maximum number of children and related cards that an impact lists; the counts include all. */
const IMPACT_NAMED = 200;

/**
 * The relations of the card `self` over the aliases `r` and `c`, its peer: those of visible types with an active,
 * visible card at the other end.
 */
function relatedCards(ctx: Ctx): Fragment {
  return fragment`from self
          join lateral (
            select o.id as relation_id, o.type as relation_type, o.target_id as peer_id,
            'outgoing' as direction
            from relations o where o.source_id = self.id
            union all
            select i.id, i.type, i.source_id, 'incoming' from relations i where i.target_id = self.id
          ) r on r.relation_type = any(${may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : []}::text[])
          join relation_types t on t.key = r.relation_type
          join cards c on c.id = r.peer_id
          where c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})`;
}

const LABEL = `case r.direction when 'outgoing' then t.label else coalesce(t.reverse_label, t.label) end`;

/**
 * The effect of archiving or deleting a card: active children and descendants, and related cards.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readArchiveImpact(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  return await ofVisibleCard(
    ctx,
    id,
    fragment`with recursive self as (
       select c.id, c.parent_id from cards c where c.id = ${id}::uuid and (${embed(visible)})
     ), tree as (
       select c.id, c.id as branch, c.approval_status, false as deeper
       from self join cards c on c.parent_id = self.id and c.status = 'ACTIVE'
       union all
       select c.id, tree.branch, c.approval_status, true
       from tree join cards c on c.parent_id = tree.id and c.status = 'ACTIVE'
     ) cycle id set looped using path,
     peers as (
       select c.id, c.name, c.type, c.subtype, c.name_key, r.relation_id, r.relation_type, ${embed(LABEL)} as label, r.direction
       ${embed(relatedCards(ctx))}
     )
     select json_build_object(
       'child_count', (select count(*) from tree where not deeper),
       'descendant_count', (select count(*) from tree where not looped),
       'approved_descendant_count', (select count(*) from tree where approval_status = 'APPROVED' and not looped),
       'related_count', (select count(*) from peers),
       'grandparent', (select json_build_object('id', c.id, 'name', c.name, 'type', c.type, 'subtype', c.subtype)
                       from cards c where c.id = self.parent_id and (${embed(visible)})),
       'children', coalesce((
         select json_agg(json_build_object('id', k.id, 'name', k.name, 'type', k.type, 'subtype', k.subtype,
             'descendants_count', (select count(*) from tree d where d.branch = k.id and d.deeper and not d.looped),
             'approval_status', k.approval_status) order by k.name_key, k.id)
         from (select c.* from tree join cards c on c.id = tree.id
               where not tree.deeper and (${embed(visible)}) order by c.name_key, c.id limit ${embed(IMPACT_NAMED)}) k), '[]'),
       'related_cards', coalesce((
         select json_agg(json_build_object('id', p.id, 'name', p.name, 'type', p.type, 'subtype', p.subtype,
             'relation_id', p.relation_id, 'relation_type_key', p.relation_type, 'relation_label', p.label,
             'direction', p.direction) order by p.name_key, p.relation_id)
         from (select * from peers order by name_key, relation_id limit ${embed(IMPACT_NAMED)}) p), '[]'))::text as item
     from self`,
  );
}

/**
 * The cards that were archived together with this one and still are archived; `child` are its descendants.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readRestoreImpact(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  return await ofVisibleCard(
    ctx,
    id,
    fragment`with recursive self as (
       select c.id, c.archive_batch_id, c.status from cards c where c.id = ${id}::uuid and (${embed(visible)})
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
         and c.id <> self.id and (${embed(visible)})), '[]'))::text as item
     from self`,
  );
}

/**
 * The number of relations of a card by type and direction, and its place in the hierarchy.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readRelationSummary(ctx: Ctx, id: string): Promise<JsonText> {
  const visible = visibleCards(ctx);
  return await ofVisibleCard(
    ctx,
    id,
    fragment`with self as (
       select c.id, c.parent_id from cards c where c.id = ${id}::uuid and (${embed(visible)})
     ), summed as (
       select r.relation_type, ${embed(LABEL)} as label, r.direction, c.type as peer_type, t.sort_order, count(*) as number
       ${embed(relatedCards(ctx))} group by r.relation_type, t.key, r.direction, c.type
     )
     select json_build_object(
       'by_type', coalesce((
         select json_agg(json_build_object('relation_type_key', relation_type, 'label', label, 'direction', direction,
             'peer_type_key', peer_type, 'count', number) order by sort_order, relation_type, direction desc)
         from summed), '[]'),
       'hierarchy', json_build_object(
         'children_count', (select count(*) from cards c
                            where c.parent_id = self.id and c.status = 'ACTIVE' and (${embed(visible)})),
         'parent_id', p.id, 'parent_name', p.name, 'parent_type', p.type))::text as item
     from self left join lateral (
       select c.id, c.name, c.type from cards c where c.id = self.parent_id and (${embed(visible)})) p on true`,
  );
}

/** The members of events in the history of a card. */
export const historyMembers = [
  'id',
  'position',
  'event_type',
  'data',
  'relation_id',
  'batch_id',
  'user_id',
  'user_display_name',
  'origin',
  'request_id',
  'created_at',
] as const;
const historyList = eventListOf('card-history', historyMembers);

/**
 * The events of one card, newest first, including those of its relations, of objects linked to several cards, such as
 * risks, and of cards that were merged into it. The history of a deleted card is only visible with the right to read
 * the audit log.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function listCardHistory(ctx: Ctx, id: string, params: ListParams): Promise<JsonText> {
  const ids = await withMerged(ctx.db, id);
  const ofCard: Condition = fragment`(e.card_id = any(${ids}::uuid[]) or e.peer_card_id = any(${ids}::uuid[])
      or (e.data \\? 'card_ids' and e.data -> 'card_ids' \\?| ${ids}::text[]))`;
  const rows = await query(ctx.db).rows<{ seen: boolean; present: boolean; known: boolean }>`
       select exists (select from cards c where c.id = ${id}::uuid and (${embed(visibleCards(ctx))})) as seen,
            exists (select from cards c where c.id = ${id}::uuid) as present,
            exists (select from events e where ${embed(ofCard)}) as known`;
  const { seen, present, known } = rows[0]!;
  const tombstone = !present && known && may(ctx.caller, 'admin.events');
  if (!seen && !tombstone) throw invisibleCardError(ctx, notFound('card', id));

  const rights: Condition = may(ctx.caller, 'inventory.view')
    ? visibleEvents(ctx)
    : fragment`e.scope = 'inventory' and e.relation_id is null ${embed(readableTypes(ctx.caller))}`;
  const spec = { ...historyList, members: { ...historyList.members, data: visibleData(ctx) } };
  return await runList(ctx, spec, [ofCard, { ...rights, visibility: true }], params);
}

/**
 * The JSON text that a query returns for a card that is visible to the caller.
 * @throws EstateError `not_found`, `forbidden`.
 */
async function ofVisibleCard(ctx: Ctx, id: string, item: Fragment): Promise<JsonText> {
  const [text] = await query(ctx.db).column<JsonText>`${embed(item)}`;
  if (text === undefined) throw invisibleCardError(ctx, notFound('card', id));
  return text;
}
