import { survivingCard } from '../../../../domain/inventory/cards/merge/merge.redirect.ts';
import { embed, fragment, query, type Sql, type Transaction } from '../../../../platform/database.ts';

/** A mapped relation type with its remote types, and the mappings of the cards at both ends. */
export interface LinkType {
  relation_type_key: string;
  mapping_id: string;
  target_mapping_id: string;
  /** Remote types in the same direction as the relation type, and in the opposite one. */
  forward: string[];
  backward: string[];
}

/** A relation as the remote reports it. */
export interface RemoteLinkRow {
  remote_relation_id: string;
  remote_type: string;
  from_id: string;
  to_id: string;
}

/** Stores relations as the remote reports them. */
export async function storeRemoteLinks(
  sql: Sql,
  mappingId: string,
  runId: string,
  links: readonly RemoteLinkRow[],
): Promise<void> {
  if (links.length === 0) return;
  await query(sql)
    .run`insert into itsm_remote_links (mapping_id, run_id, remote_relation_id, remote_type, from_id, to_id)
     select ${mappingId}::uuid, ${runId}::uuid, v.* from json_to_recordset(${JSON.stringify(links)}::json)
       as v(remote_relation_id text, remote_type text, from_id text, to_id text)
     on conflict (mapping_id, remote_relation_id) do update set remote_type = excluded.remote_type,
       from_id = excluded.from_id, to_id = excluded.to_id, run_id = excluded.run_id`;
}

/** Which of these relations are stored. */
export async function findStoredLinks(
  sql: Sql,
  mappingId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  return await query(sql).column<string>`select remote_relation_id as id from itsm_remote_links
     where mapping_id = ${mappingId} and remote_relation_id = any(${ids}::text[]) order by id`;
}

/** Deletes relations that are gone at the remote. */
export async function deleteRemoteLinks(sql: Sql, mappingId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await query(sql)
    .run`delete from itsm_remote_links where mapping_id = ${mappingId} and remote_relation_id = any(${ids}::text[])`;
}

/** Deletes relations that a full read did not contain. */
export async function deleteUnreadLinks(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await query(sql).run`delete from itsm_remote_links where mapping_id = ${mappingId} and run_id <> ${runId}`;
}

/**
 * Deletes relations that the run has removed at the remote. Without tombstones of the remote, the next run would otherwise see them
 * as new.
 */
export async function deleteUnrelatedLinks(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await query(sql).run`delete from itsm_remote_links l using itsm_plan_rows r
     where l.mapping_id = ${mappingId} and r.run_id = ${runId} and r.action = 'unrelate' and r.side = 'remote'
       and r.progress = 'applied' and l.remote_relation_id = r.row -> 'link' ->> 'relationId'`;
}

// live pairs with their surviving cards
const pairs = (mapping: string) =>
  embed(`(select p.remote_id, ${survivingCard('p.card_id')} as card_id
  from itsm_pairs p
  where p.mapping_id = ${mapping} and p.state in ('linked', 'quarantined'))`);

/** The mappings and the type of a link type, the pairs of both mappings, and the relations of the remote in its direction. */
const bothSides = ({ mapping_id, target_mapping_id, relation_type_key, forward, backward }: LinkType) =>
  embed(fragment`kind as (
       select ${mapping_id}::uuid as mapping, ${target_mapping_id}::uuid as other, ${relation_type_key}::text as type
     ),
     source as materialized (select * from kind, lateral ${pairs('kind.mapping')} as p),
     target as materialized (select * from kind, lateral ${pairs('kind.other')} as p),
     remote as materialized (
       select l.from_id as source, l.to_id as target from itsm_remote_links l join kind on l.mapping_id = kind.mapping
         where l.remote_type = any(${forward}::text[])
       union all
       select l.to_id, l.from_id from itsm_remote_links l join kind on l.mapping_id = kind.mapping
         where l.remote_type = any(${backward}::text[])
     )`);

/**
 * The sources of relations of a type that differ between both sides and the sync state, if both ends have a pair or the plan
 * creates it: records, and cards whose records the plan creates.
 */
export async function findDifferingLinks(
  sql: Transaction,
  runId: string,
  linkType: LinkType,
): Promise<{ records: string[]; cards: string[] }> {
  // the planner does not know the sizes of these sets, and nested loops would take hours
  await query(sql).run`set local enable_nestloop = off`;
  const rows = await query(sql).rows<{ id: string; is_card: boolean }>`with ${bothSides(linkType)},
     new_cards as (
       select remote_id from itsm_plan_rows
       where run_id = ${runId} and remote_id is not null and (action = 'link' or (action = 'create' and side = 'local'))
     ),
     new_records as (
       select remote_id, card_id from itsm_plan_rows
       where run_id = ${runId} and card_id is not null and (action = 'link' or (action = 'create' and side = 'remote'))
     ),
     here as materialized (
       select remote_id, card_id from source union all select remote_id, card_id from new_records
     ),
     there as materialized (
       select remote_id, card_id from target
       union all select g.remote_id, g.card_id from new_records g, kind where kind.mapping = kind.other
     ),
     sources as materialized (select remote_id from source union select remote_id from new_cards),
     targets as materialized (
       select remote_id from target
       union select m.remote_id from new_cards m, kind where kind.mapping = kind.other
     ),
     agreed as materialized (
       select l.source, l.target from itsm_links l, kind
       where l.mapping_id = kind.mapping and l.relation_type = kind.type
     )
     select o.source as id, false as is_card from remote o join sources s on s.remote_id = o.source
       join targets t on t.remote_id = o.target
       where not exists (select from agreed a where a.source = o.source and a.target = o.target)
     union
     select a.source, false from agreed a
       where not exists (select from remote o where o.source = a.source and o.target = a.target)
     union
     select a.source, false from agreed a join source s on s.remote_id = a.source join target t on t.remote_id = a.target
       where not exists (select from relations r, kind
         where r.type = kind.type and r.source_id = s.card_id and r.target_id = t.card_id)
     union
     select a.source, false from agreed a
       where not exists (select from sources s where s.remote_id = a.source)
         or not exists (select from targets t where t.remote_id = a.target)
     union
     select coalesce(s.remote_id, s.card_id::text), s.remote_id is null from relations r join kind on r.type = kind.type
       join here s on s.card_id = r.source_id join there t on t.card_id = r.target_id
       where not exists (select from agreed a where a.source = s.remote_id and a.target = t.remote_id)`;
  const found = (isCard: boolean) => rows.flatMap(({ id, is_card }) => (is_card === isCard ? [id] : []));
  return { records: found(false), cards: found(true) };
}

/**
 * Target records of another mapping whose relations exist in the inventory, but not at the remote.
 * @param wanted whether to include relations that the remote may have removed, and those that the inventory has added.
 */
export async function findTargetsToCheck(
  sql: Transaction,
  linkType: LinkType,
  wanted: { removals: boolean; additions: boolean },
): Promise<string[]> {
  if (!wanted.removals && !wanted.additions) return [];
  await query(sql).run`set local enable_nestloop = off`;
  return await query(sql).column<string>`with ${bothSides(linkType)},
     here as materialized (
       select s.remote_id as source, t.remote_id as target, a.source is not null as agreed
       from relations r join kind on r.type = kind.type
         join source s on s.card_id = r.source_id join target t on t.card_id = r.target_id
         left join itsm_links a on a.mapping_id = kind.mapping and a.relation_type = kind.type
           and a.source = s.remote_id and a.target = t.remote_id
     )
     select distinct h.target as id from here h
       where case when h.agreed then ${wanted.removals}::boolean else ${wanted.additions}::boolean end
         and not exists (select from remote o where o.source = h.source and o.target = h.target)
         and not exists (select from source s where s.remote_id = h.target)
     order by id`;
}

/** Relations of the remote of a type with these records as source. */
export async function readRemoteLinks(
  sql: Sql,
  { mapping_id, forward, backward }: LinkType,
  sources: readonly string[],
): Promise<{ source: string; target: string; id: string }[]> {
  // lateral joins with OFFSET 0 enforce index lookups: the planner underestimates rows that were just written
  return await query(sql)
    .rows`select l.source, l.target, l.id from unnest(${sources}::text[]) as q(id) cross join lateral (
       select from_id as source, to_id as target, remote_relation_id as id from itsm_remote_links
         where mapping_id = ${mapping_id} and from_id = q.id and remote_type = any(${forward}::text[])
       union all
       select to_id, from_id, remote_relation_id from itsm_remote_links
         where mapping_id = ${mapping_id} and to_id = q.id and remote_type = any(${backward}::text[])
       offset 0) l
     order by l.id`;
}

/** Which of these records belong to the mapping of a type's targets. A remote type can also have targets of other mappings. */
export async function findTargets(
  sql: Sql,
  { target_mapping_id }: LinkType,
  remoteIds: readonly string[],
): Promise<Set<string>> {
  return new Set(
    await query(sql)
      .column<string>`select remote_id from itsm_pairs where mapping_id = ${target_mapping_id} and remote_id = any(${remoteIds}::text[])`,
  );
}

/** Relations of these types with these cards as source. */
export async function readRelationsOfSources(
  sql: Sql,
  types: readonly string[],
  cardIds: readonly string[],
): Promise<{ type: string; source_id: string; target_id: string }[]> {
  return await query(sql).rows`select type, source_id, target_id from relations
     where type = any(${types}::text[]) and source_id = any(${cardIds}::uuid[]) order by id`;
}

/** A row of a plan that creates, quarantines or ends a pair. The id of a card or record that the plan creates is null. */
export interface PairRow {
  no: number;
  action: 'create' | 'link' | 'quarantine' | 'unlink';
  side: 'local' | 'remote' | null;
  remoteId: string | null;
  cardId: string | null;
}

/** Rows of a plan that create, quarantine or end pairs of these records or cards, in their order. */
export async function readPairRows(
  sql: Sql,
  runId: string,
  { remoteIds = [], cardIds = [] }: { remoteIds?: readonly string[]; cardIds?: readonly string[] },
): Promise<PairRow[]> {
  if (remoteIds.length + cardIds.length === 0) return [];
  // lateral joins with OFFSET 0 enforce index lookups: the planner underestimates rows that were just written
  const found = (ids: readonly string[], type: 'text' | 'uuid', column: string) =>
    embed(fragment`select r.* from unnest(${ids}::${embed(type)}[]) as q(id) cross join lateral (
       select no, action, side, remote_id as "remoteId", card_id as "cardId" from itsm_plan_rows
       where run_id = ${runId} and ${embed(column)} = q.id
         and action in ('create', 'link', 'quarantine', 'unlink') offset 0) r`);
  return await query(sql)
    .rows`${found(remoteIds, 'text', 'remote_id')} union ${found(cardIds, 'uuid', 'card_id')} order by no`;
}
