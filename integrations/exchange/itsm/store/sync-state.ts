import { referencedMappings } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { survivingCard } from '../../../../domain/inventory/cards/merge/merge.redirect.ts';
import { embed, query, type Sql } from '../../../../platform/database.ts';
import type { TransformContext } from '../engine/fields.ts';
import type {
  AgreedLink,
  Decision,
  LocalCard,
  Pair,
  Refusal,
  Resolution,
  StateChange,
} from '../engine/model.types.ts';
import type { RowResult } from '../engine/plan.types.ts';
import { writtenValues } from '../engine/plan.unmatched.ts';
import { applyChanges, emptySyncState, indexPairs, linkKey } from '../engine/state.ts';
import type { RemoteRecord } from '../remote.ts';

const columns = `p.remote_id as "remoteId", p.card_id as "cardId", p.origin, p.base, p.absences, jsonb_strip_nulls(
  jsonb_build_object('kind', p.state, 'gone', p.gone, 'evidence', p.evidence, 'since', utc(p.since))) as state`;

/** Selects pairs by their records and by their cards. */
export interface PairSelector {
  remoteIds?: readonly string[];
  cardIds?: readonly string[];
}

/** Pairs by remote id, and merged cards: from the merged card to the survivor. */
export interface LoadedPairs {
  pairs: Map<string, Pair>;
  redirects: Map<string, string>;
}

/**
 * The pairs of records and of cards, and all other pairs of these cards, including cards that were merged with them. In the
 * order of their remote ids.
 */
export async function loadPairs(
  sql: Sql,
  mappingId: string,
  { remoteIds = [], cardIds = [] }: PairSelector,
): Promise<LoadedPairs> {
  // one condition at a time: with OR between them PostgreSQL reads all pairs
  const pairs = await selectPairs(sql, mappingId, 'remote_id', remoteIds);
  const { cards, redirects } = await findMerged(sql, [...cardIds, ...pairs.map(({ cardId }) => cardId)]);
  pairs.push(...(await selectPairs(sql, mappingId, 'card_id', [...cards])));
  pairs.sort((left, right) => (left.remoteId < right.remoteId ? -1 : 1));
  return { pairs: new Map(pairs.map((pair) => [pair.remoteId, pair])), redirects };
}

async function selectPairs(
  sql: Sql,
  mappingId: string,
  column: 'remote_id' | 'card_id',
  ids: readonly string[],
): Promise<Pair[]> {
  if (ids.length === 0) return [];
  return await query(sql).rows`select ${embed(columns)} from itsm_pairs p
     where p.mapping_id = ${mappingId} and p.${embed(column)} = any(${ids})`;
}

/** The cards with all that they were merged into, or that were merged into them, transitively. */
async function findMerged(
  sql: Sql,
  own: readonly string[],
): Promise<{ cards: Set<string>; redirects: Map<string, string> }> {
  const cards = new Set(own);
  const redirects = new Map<string, string>();
  for (let fresh = [...cards]; fresh.length > 0; ) {
    const rows = await query(sql).rows`select card_id, survivor_id from card_redirects
       where card_id = any(${fresh}::uuid[]) or survivor_id = any(${fresh}::uuid[])`;
    fresh = [];
    for (const { card_id, survivor_id } of rows as { card_id: string; survivor_id: string }[]) {
      redirects.set(card_id, survivor_id);
      for (const id of [card_id, survivor_id]) {
        if (!cards.has(id)) fresh.push(id);
        cards.add(id);
      }
    }
  }
  return { cards, redirects };
}

/**
 * Finds the cards and records that the reference fields of these records and cards refer to, also those of other mappings.
 * @param findDeleted which of these records are known to be deleted: no reference to them is written.
 */
export async function loadReferences(
  sql: Sql,
  mapping: Mapping,
  records: readonly RemoteRecord[],
  cards: readonly LocalCard[],
  findDeleted: (remoteIds: string[]) => Promise<ReadonlySet<string>> = async () => new Set(),
): Promise<Pick<TransformContext, 'cardOf' | 'recordOf'>> {
  const known: Pick<TransformContext, 'cardOf' | 'recordOf'>[] = [];
  const fields = mapping.fields.filter(({ transform_type }) => transform_type === 'reference');
  const references = referencedMappings(mapping);
  const texts = (values: unknown[]) => [
    ...new Set(values.filter((value): value is string => typeof value === 'string' && value !== '')),
  ];
  for (const [mappingId, mapped] of Map.groupBy(fields, ({ card_field }) => references[card_field]!)) {
    const remoteIds = texts(
      records.flatMap((record) => mapped.map(({ remote_field: remote }) => record.fields[remote]?.value)),
    );
    const cardIds = texts(cards.flatMap((card) => mapped.map(({ card_field: path }) => card.fields[path])));
    if (remoteIds.length + cardIds.length === 0) continue;
    const { pairs, redirects } = await loadPairs(sql, mappingId, { remoteIds, cardIds });
    const deleted = await findDeleted([...pairs.keys()]);
    const { cardOf, presentRecordOf } = indexPairs(pairs, redirects);
    const recordOf = (id: string) => {
      const record = presentRecordOf(id);
      return record !== undefined && deleted.has(record) ? undefined : record;
    };
    known.push({ cardOf, recordOf });
  }
  return {
    cardOf: (id) => known.map(({ cardOf }) => cardOf(id)).find((card) => card !== undefined),
    recordOf: (id) => known.map(({ recordOf }) => recordOf(id)).find((record) => record !== undefined),
  };
}

/** Agreed relations with one of the records at either end. */
export async function readLinks(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<AgreedLink[]> {
  return await query(sql)
    .column<AgreedLink>`select jsonb_strip_nulls(jsonb_build_object('relationType', relation_type, 'source', source, 'target', target,
       'relationId', remote_relation_id)) as link
     from itsm_links where mapping_id = ${mappingId} and (source = any(${remoteIds}::text[]) or target = any(${remoteIds}::text[]))
     order by relation_type, source, target`;
}

/** The surviving cards of records of all mappings of the connection. */
export async function findCardsOfRecords(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await query(sql)
    .rows`select p.remote_id, ${embed(survivingCard('p.card_id'))} as card_id from itsm_pairs p
     join itsm_mappings m on m.id = p.mapping_id
     join itsm_mappings own on own.id = ${mappingId} and own.connection_id = m.connection_id
     where p.remote_id = any(${remoteIds}::text[]) and p.state in ('linked', 'quarantined')`;
  return new Map(rows.map((row: { remote_id: string; card_id: string }) => [row.remote_id, row.card_id]));
}

/** Writes changes of the sync state in their order, with one statement per kind. The sync state must be locked. Idempotent. */
export async function storeChanges(
  sql: Sql,
  mappingId: string,
  changes: readonly StateChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const ids = new Set<string>();
  const links = new Map<string, AgreedLink>();
  for (const change of changes) {
    if ('remoteId' in change) ids.add(change.remoteId);
    else if (change.op === 'pair') ids.add(change.pair.remoteId);
    else if ('link' in change) links.set(linkKey(change.link), change.link);
  }
  const stored = await selectPairs(sql, mappingId, 'remote_id', [...ids]);
  const syncState = emptySyncState();
  for (const pair of stored) syncState.pairs.set(pair.remoteId, pair);
  applyChanges(syncState, changes);
  const removed = stored.map(({ remoteId }) => remoteId).filter((id) => !syncState.pairs.has(id));
  await deletePairs(sql, mappingId, removed);
  await upsertPairs(sql, mappingId, [...syncState.pairs.values()]);
  const unlinked = [...links].flatMap(([key, link]) => (syncState.links.has(key) ? [] : [link]));
  await deleteLinks(sql, mappingId, unlinked);
  await upsertLinks(sql, mappingId, [...syncState.links.values()]);
}

async function deletePairs(sql: Sql, mappingId: string, remoteIds: readonly string[]): Promise<void> {
  if (remoteIds.length === 0) return;
  await sql('itsm_pairs').where({ mapping_id: mappingId }).whereIn('remote_id', remoteIds).delete();
}

async function upsertPairs(sql: Sql, mappingId: string, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  await query(sql)
    .run`insert into itsm_pairs (mapping_id, remote_id, card_id, origin, state, gone, evidence, since, base, absences)
     select ${mappingId}::uuid, "remoteId", "cardId", origin, state ->> 'kind', state ->> 'gone', state ->> 'evidence',
       (state ->> 'since')::timestamptz, base, absences
     from json_to_recordset(${JSON.stringify(pairs)}::json)
       as v("remoteId" text, "cardId" uuid, origin text, state jsonb, base jsonb, absences integer)
     on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, origin = excluded.origin,
       state = excluded.state, gone = excluded.gone, evidence = excluded.evidence, since = excluded.since,
       base = excluded.base, absences = excluded.absences`;
}

async function deleteLinks(sql: Sql, mappingId: string, links: readonly AgreedLink[]): Promise<void> {
  if (links.length === 0) return;
  await query(sql)
    .run`delete from itsm_links l using json_to_recordset(${JSON.stringify(links)}::json) as v("relationType" text, source text, target text)
     where l.mapping_id = ${mappingId} and l.relation_type = v."relationType" and l.source = v.source and l.target = v.target`;
}

async function upsertLinks(sql: Sql, mappingId: string, links: readonly AgreedLink[]): Promise<void> {
  if (links.length === 0) return;
  await query(sql).run`insert into itsm_links (mapping_id, relation_type, source, target, remote_relation_id)
     select ${mappingId}::uuid, v.* from json_to_recordset(${JSON.stringify(links)}::json)
       as v("relationType" text, source text, target text, "relationId" text)
     on conflict (mapping_id, relation_type, source, target) do update
       set remote_relation_id = coalesce(excluded.remote_relation_id, itsm_links.remote_relation_id)`;
}

export interface NewParent {
  card_id: string;
  parent_id: string;
}

/**
 * Which of these cards are ancestors of their new parent already. The parents of both sides count, since a parent that only
 * one side has is going to be written to the other. @param column the remote column with the id of the parent.
 */
export async function findParentCycles(
  sql: Sql,
  { runId, mappingId, column }: { runId: string; mappingId: string; column: string },
  wanted: readonly NewParent[],
): Promise<NewParent[]> {
  if (wanted.length === 0) return [];
  return await query(sql).rows`with recursive wanted as (
       select card_id, parent_id from json_to_recordset(${JSON.stringify(wanted)}::json) as v(card_id uuid, parent_id uuid)
     ), above as (
       select card_id, parent_id, parent_id as id from wanted
       union
       select a.card_id, a.parent_id, up.id from above a cross join lateral (
         select c.parent_id as id from cards c where c.id = a.id and c.parent_id is not null
         union all
         select q.card_id from itsm_pairs p
         left join itsm_run_records r on r.run_id = ${runId} and r.remote_id = p.remote_id
         join itsm_pairs q on q.mapping_id = p.mapping_id and q.state in ('linked', 'quarantined')
           and q.remote_id = case when r.record is null then p.base -> 'parent_id' ->> 'remote'
             else r.record -> 'fields' -> ${column}::text ->> 'value' end
         where p.mapping_id = ${mappingId} and p.card_id = a.id and p.state in ('linked', 'quarantined')
       ) up where a.id <> a.card_id
     )
     select distinct card_id, parent_id from above where id = card_id`;
}

// columns of review items, from a plan row
const kind = `case action when 'stage' then 'match' else 'conflict' end`;
const local = `row -> 'diff' -> coalesce(row ->> 'path', '') -> 'old'`;
const remote = `case action
  when 'stage' then (select jsonb_object_agg(d.key, d.value -> 'new') from jsonb_each(row -> 'diff') d)
  else row -> 'diff' -> coalesce(row ->> 'path', '') -> 'new' end`;

const onConflict = `on conflict (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''))
  do update set local = excluded.local, remote = excluded.remote, reason = excluded.reason,
    candidates = excluded.candidates, run_id = excluded.run_id, refused_side = excluded.refused_side`;

/**
 * Marks the rows that repeat an open review item with the same values, with the time since when it is open.
 * @returns how many there are.
 */
export async function markRepeatedItems(sql: Sql, runId: string, mappingId: string): Promise<number> {
  return await query(sql).count`with asked as (
       select no, ${embed(kind)} as kind, remote_id, card_id, row ->> 'path' as path, ${embed(local)} as local,
         ${embed(remote)} as remote
       from itsm_plan_rows where run_id = ${runId} and action in ('conflict', 'stage')
     )
     update itsm_plan_rows p set open_since = q.opened_at from asked a
     join itsm_review_items q on q.mapping_id = ${mappingId} and q.kind = a.kind
       and coalesce(q.remote_id, '') = coalesce(a.remote_id, '')
       and coalesce(q.card_id::text, '') = coalesce(a.card_id::text, '') and coalesce(q.path, '') = coalesce(a.path, '')
       and q.local is not distinct from a.local and q.remote is not distinct from a.remote
     where p.run_id = ${runId} and p.no = a.no`;
}

/**
 * Opens review items for the conflicts and uncertain matches of a plan, and closes earlier ones that the plan covers and does not
 * repeat. @param complete whether the plan covers all records.
 */
export async function openReviewItems(
  sql: Sql,
  runId: string,
  mappingId: string,
  complete: boolean,
): Promise<void> {
  await query(sql).run`insert into itsm_review_items as q
       (mapping_id, kind, remote_id, card_id, path, local, remote, reason, candidates, run_id, refused_side)
     select ${mappingId}::uuid, ${embed(kind)}, remote_id, card_id, row ->> 'path', ${embed(local)}, ${embed(remote)}, row ->> 'reason',
       coalesce(row -> 'candidates', '[]'), run_id, row ->> 'refusedBy'
     from itsm_plan_rows where run_id = ${runId} and action in ('conflict', 'stage') ${embed(onConflict)}`;
  // a run that reads changes only does not plan an unchanged card whose record the remote refused
  await query(sql)
    .run`delete from itsm_review_items q where q.mapping_id = ${mappingId} and q.run_id is distinct from ${runId}
       and (${complete} or case
         when q.remote_id is not null
           then exists (select from itsm_run_records r where r.run_id = ${runId} and r.remote_id = q.remote_id)
         when q.refused_side = 'remote'
           then exists (select from itsm_plan_rows p where p.run_id = ${runId} and p.card_id = q.card_id)
             or exists (select from itsm_pairs p where p.mapping_id = q.mapping_id and p.card_id = q.card_id)
             or not exists (select from cards c where c.id = q.card_id and c.status = 'ACTIVE')
         else true end)`;
}

/** Users' decisions on conflicts and on matches. */
export async function readDecisions(
  sql: Sql,
  mappingId: string,
): Promise<{ resolutions: Resolution[]; decisions: Decision[] }> {
  const rows = await query(sql)
    .rows`select remote_id as "remoteId", path, winner, jsonb_build_object('local', local, 'remote', remote) as values
     from itsm_resolutions where mapping_id = ${mappingId}`;
  const decisions = await query(sql)
    .rows`select remote_id as "remoteId", card_id as "cardId" from itsm_decisions where mapping_id = ${mappingId}`;
  return { resolutions: rows, decisions };
}

/** Values, and new cards (`path: null`), that a side has refused and whose review items are open. */
export async function readRefusals(sql: Sql, mappingId: string): Promise<Refusal[]> {
  return await query(sql)
    .rows`select remote_id as "remoteId", card_id as "cardId", path, refused_side as side, reason,
       jsonb_build_object('local', local, 'remote', remote) as values
     from itsm_review_items where mapping_id = ${mappingId} and refused_side is not null`;
}

/** Opens review items for values and new cards that a side has refused. Earlier decisions on these values are dropped. */
export async function openRefusedItems(
  sql: Sql,
  mappingId: string,
  runId: string,
  endings: readonly RowResult[],
): Promise<void> {
  const items = endings.flatMap((ending) => [...refusedValues(ending), ...refusedObject(ending)]);
  if (items.length === 0) return;
  const values = JSON.stringify(items);
  await query(sql)
    .run`insert into itsm_review_items as q (mapping_id, kind, remote_id, card_id, path, local, remote, reason, run_id, refused_side)
     select ${mappingId}::uuid, v.kind, v.remote_id, v.card_id, v.path, v.local, v.remote, v.reason, ${runId}::uuid, v.side
     from json_to_recordset(${values}::json) as v(kind text, remote_id text, card_id uuid, path text, local jsonb, remote jsonb,
       reason text, side text) ${embed(onConflict)}`;
  await query(sql)
    .run`delete from itsm_resolutions r using json_to_recordset(${values}::json) as v(remote_id text, path text)
     where r.mapping_id = ${mappingId} and r.remote_id = v.remote_id and r.path = v.path`;
}

/** The values of a row that were not accepted, as both sides hold them. */
function refusedValues({ row, outcome: { unwritten = {}, createdId = '' } }: RowResult): object[] {
  const { side, agreed, diff } = row;
  return Object.entries(unwritten).flatMap(([path, reason]) => {
    const [both, now] = [agreed[path], diff[path]?.old ?? null];
    if (side === null || both === undefined) return [];
    const ids = { remote_id: row.remoteId ?? createdId, card_id: row.cardId ?? createdId };
    return [{ kind: 'conflict', ...ids, path, side, ...both, [side]: now, reason }];
  });
}

/** The record for which no card could be created, or the card for which no record could be created. */
function refusedObject({ row: { action, side, remoteId, cardId, diff }, outcome }: RowResult): object[] {
  if (action !== 'create' || outcome.progress !== 'refused') return [];
  const remote = writtenValues(diff);
  if (side === 'remote') {
    const reason = `No record can be created: ${outcome.message}`;
    return [{ kind: 'match', card_id: cardId, side, remote, reason }];
  }
  if (remoteId === null) return [];
  const reason = `No card can be created: ${outcome.message}`;
  return [{ kind: 'match', remote_id: remoteId, side, remote, reason }];
}
