import type { Knex } from 'knex';
import { survivingCard } from '../../../domain/inventory/cards/merge/merge.redirect.ts';
import type { Sql } from '../../../platform/database.ts';

/** A mapped relation type with the kinds outside that stand for it, and the mappings of the cards at both ends. */
export interface LinkKind {
  relation_type_key: string;
  mapping_id: string;
  target_mapping_id: string;
  /** The remote's kinds that it tells from the source, and those that it tells from the target. */
  forward: string[];
  backward: string[];
}

// relations outside, turned into the direction of the inventory's
const turned = `(select mapping_id, remote_relation_id, from_id as source, to_id as target from itsm_remote_links
    where remote_type = any(?::text[])
  union all
  select mapping_id, remote_relation_id, to_id, from_id from itsm_remote_links where remote_type = any(?::text[]))`;

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
  await sql.raw(
    `insert into itsm_remote_links (mapping_id, run_id, remote_relation_id, remote_type, from_id, to_id)
     select ?::uuid, ?::uuid, v.* from json_to_recordset(?::json)
       as v(remote_relation_id text, remote_type text, from_id text, to_id text)
     on conflict (mapping_id, remote_relation_id) do update set remote_type = excluded.remote_type,
       from_id = excluded.from_id, to_id = excluded.to_id, run_id = excluded.run_id`,
    [mappingId, runId, JSON.stringify(links)],
  );
}

/** Those of these relations that are remembered. */
export async function knownRemoteLinks(
  sql: Sql,
  mappingId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql.raw(
    `select remote_relation_id as id from itsm_remote_links
     where mapping_id = ? and remote_relation_id = any(?::text[]) order by id`,
    [mappingId, ids],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Forgets relations that are gone outside. */
export async function deleteRemoteLinks(sql: Sql, mappingId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.raw(
    'delete from itsm_remote_links where mapping_id = ? and remote_relation_id = any(?::text[])',
    [mappingId, ids],
  );
}

/** Forgets relations that a complete reading was without. */
export async function deleteUnreadLinks(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await sql.raw('delete from itsm_remote_links where mapping_id = ? and run_id <> ?', [mappingId, runId]);
}

/**
 * Forgets relations that the run itself has taken away outside: where the remote keeps no record of deletions, they
 * would look as if somebody had made them.
 */
export async function deleteUnrelatedLinks(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await sql.raw(
    `delete from itsm_remote_links l using itsm_plan_rows r
     where l.mapping_id = ? and r.run_id = ? and r.action = 'unrelate' and r.side = 'remote'
       and r.progress = 'applied' and l.remote_relation_id = r.row -> 'link' ->> 'relationId'`,
    [mappingId, runId],
  );
}

// pairs with the card of today
const pairs = (mapping: string) => `(select p.remote_id, ${survivingCard('p.card_id')} as card_id
  from itsm_pairs p
  where p.mapping_id = ${mapping} and p.state in ('linked', 'quarantined'))`;

/**
 * Where relations of a kind start that are not alike on both sides and in what was agreed on, as far as both ends have
 * cards and records or the plan makes them: records, and cards whose records the plan makes.
 */
export async function differingLinks(
  sql: Knex.Transaction,
  runId: string,
  kind: LinkKind,
): Promise<{ records: string[]; cards: string[] }> {
  const { mapping_id, target_mapping_id, relation_type_key, forward, backward } = kind;
  // sets of which the planner knows no size: one row at a time they would be gone through for hours
  await sql.raw('set local enable_nestloop = off');
  const { rows } = await sql.raw(
    `with kind as (select ?::uuid as mapping, ?::uuid as other, ?::text as type),
     made as (
       select remote_id from itsm_plan_rows
       where run_id = ? and remote_id is not null and (action = 'link' or (action = 'create' and side = 'local'))
     ),
     given as (
       select remote_id, card_id from itsm_plan_rows
       where run_id = ? and card_id is not null and (action = 'link' or (action = 'create' and side = 'remote'))
     ),
     source as materialized (select * from kind, lateral ${pairs('kind.mapping')} as p),
     target as materialized (select * from kind, lateral ${pairs('kind.other')} as p),
     here as materialized (
       select remote_id, card_id from source union all select remote_id, card_id from given
     ),
     there as materialized (
       select remote_id, card_id from target
       union all select g.remote_id, g.card_id from given g, kind where kind.mapping = kind.other
     ),
     sources as materialized (select remote_id from source union select remote_id from made),
     targets as materialized (
       select remote_id from target
       union select m.remote_id from made m, kind where kind.mapping = kind.other
     ),
     outside as materialized (
       select l.source, l.target from ${turned} l join kind on l.mapping_id = kind.mapping
     ),
     agreed as materialized (
       select l.source, l.target from itsm_links l, kind
       where l.mapping_id = kind.mapping and l.relation_type = kind.type
     )
     select o.source as id, false as is_card from outside o join sources s on s.remote_id = o.source
       join targets t on t.remote_id = o.target
       where not exists (select from agreed a where a.source = o.source and a.target = o.target)
     union
     select a.source, false from agreed a
       where not exists (select from outside o where o.source = a.source and o.target = a.target)
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
       where not exists (select from agreed a where a.source = s.remote_id and a.target = t.remote_id)`,
    [mapping_id, target_mapping_id, relation_type_key, runId, runId, forward, backward],
  );
  const found = (isCard: boolean) =>
    rows.flatMap(({ id, is_card }: { id: string; is_card: boolean }) => (is_card === isCard ? [id] : []));
  return { records: found(false), cards: found(true) };
}

/**
 * Records of another mapping alone at the targets of relations of a kind that are known here and not told outside.
 * @param concerns which are asked for: those that both sides had agreed on, and those that only we have.
 */
export async function unreportedTargets(
  sql: Knex.Transaction,
  kind: LinkKind,
  concerns: { removals: boolean; additions: boolean },
): Promise<string[]> {
  if (!concerns.removals && !concerns.additions) return [];
  const { mapping_id, target_mapping_id, relation_type_key, forward, backward } = kind;
  await sql.raw('set local enable_nestloop = off');
  const { rows } = await sql.raw(
    `with kind as (select ?::uuid as mapping, ?::uuid as other, ?::text as type),
     source as materialized (select * from kind, lateral ${pairs('kind.mapping')} as p),
     target as materialized (select * from kind, lateral ${pairs('kind.other')} as p),
     here as materialized (
       select s.remote_id as source, t.remote_id as target, a.source is not null as agreed
       from relations r join kind on r.type = kind.type
         join source s on s.card_id = r.source_id join target t on t.card_id = r.target_id
         left join itsm_links a on a.mapping_id = kind.mapping and a.relation_type = kind.type
           and a.source = s.remote_id and a.target = t.remote_id
     ),
     outside as materialized (
       select l.source, l.target from ${turned} l join kind on l.mapping_id = kind.mapping
     )
     select distinct h.target as id from here h
       where case when h.agreed then ?::boolean else ?::boolean end
         and not exists (select from outside o where o.source = h.source and o.target = h.target)
         and not exists (select from source s where s.remote_id = h.target)
     order by id`,
    [
      mapping_id,
      target_mapping_id,
      relation_type_key,
      forward,
      backward,
      concerns.removals,
      concerns.additions,
    ],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Relations of a kind that start from these records, as they are told outside. */
export async function remoteLinksFrom(
  sql: Sql,
  { mapping_id, forward, backward }: LinkKind,
  sources: readonly string[],
): Promise<{ source: string; target: string; id: string }[]> {
  const { rows } = await sql.raw(
    // each looked up by itself: what a run has just written the planner takes for little, and would read it all
    `select l.source, l.target, l.id from unnest(?::text[]) as q(id) cross join lateral (
       select from_id as source, to_id as target, remote_relation_id as id from itsm_remote_links
         where mapping_id = ? and from_id = q.id and remote_type = any(?::text[])
       union all
       select to_id, from_id, remote_relation_id from itsm_remote_links
         where mapping_id = ? and to_id = q.id and remote_type = any(?::text[])
       offset 0) l
     order by l.id`,
    [sources, mapping_id, forward, mapping_id, backward],
  );
  return rows;
}

/**
 * Which of these records belong to the mapping of a kind's targets: the same kind outside may lead to records of which
 * another mapping has made cards of another type.
 */
export async function targetsOf(
  sql: Sql,
  { target_mapping_id }: LinkKind,
  remoteIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql.raw(
    `select remote_id from itsm_pairs where mapping_id = ? and remote_id = any(?::text[])`,
    [target_mapping_id, remoteIds],
  );
  return new Set(rows.map(({ remote_id }: { remote_id: string }) => remote_id));
}

/** Relations of these types that start from these cards. */
export async function relationsFrom(
  sql: Sql,
  types: readonly string[],
  cardIds: readonly string[],
): Promise<{ type: string; source_id: string; target_id: string }[]> {
  const { rows } = await sql.raw(
    `select type, source_id, target_id from relations
     where type = any(?::text[]) and source_id = any(?::uuid[]) order by id`,
    [types, cardIds],
  );
  return rows;
}

/**
 * A row of a plan that ties a record to a card, or says that their pair waits or ends; the card or the record that the plan
 * is to make is null.
 */
export interface PlannedPair {
  no: number;
  action: 'create' | 'link' | 'quarantine' | 'unlink';
  side: 'local' | 'remote' | null;
  remoteId: string | null;
  cardId: string | null;
}

/** Rows of a plan that pair or separate these records, or these cards. */
export const plannedPairs = (
  sql: Sql,
  runId: string,
  by: { remoteIds?: readonly string[]; cardIds?: readonly string[] },
): Promise<PlannedPair[]> =>
  plannedRows(sql, runId, by, {
    ofRecord: `action in ('create', 'link', 'quarantine', 'unlink')`,
    ofCard: `action in ('create', 'link', 'quarantine', 'unlink')`,
  });

/** Rows of a plan that give these records their cards, or these cards their records. */
export const plannedMakers = (
  sql: Sql,
  runId: string,
  by: { remoteIds: readonly string[]; cardIds: readonly string[] },
): Promise<PlannedPair[]> =>
  plannedRows(sql, runId, by, {
    ofRecord: `(action = 'link' or (action = 'create' and side = 'local'))`,
    ofCard: `(action = 'link' or (action = 'create' and side = 'remote'))`,
  });

async function plannedRows(
  sql: Sql,
  runId: string,
  { remoteIds = [], cardIds = [] }: { remoteIds?: readonly string[]; cardIds?: readonly string[] },
  { ofRecord, ofCard }: { ofRecord: string; ofCard: string },
): Promise<PlannedPair[]> {
  if (remoteIds.length + cardIds.length === 0) return [];
  // lateral joins with OFFSET 0 enforce index lookups: the planner underestimates rows that were just written
  const found = (type: 'text' | 'uuid', column: string, condition: string) =>
    `select r.* from unnest(?::${type}[]) as q(id) cross join lateral (
       select no, action, side, remote_id as "remoteId", card_id as "cardId" from itsm_plan_rows
       where run_id = ? and ${column} = q.id and ${condition} offset 0) r`;
  const { rows } = await sql.raw(
    `${found('text', 'remote_id', ofRecord)} union ${found('uuid', 'card_id', ofCard)}`,
    [remoteIds, runId, cardIds, runId],
  );
  return rows;
}
