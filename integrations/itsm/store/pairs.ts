import { survivingCard } from '../../../domain/inventory/cards/merge/merge.redirect.ts';
import { queryColumn, queryRows, type Sql } from '../../../platform/database.ts';
import type { AgreedLink, Pair, StateChange } from '../engine/model.types.ts';
import { applyChanges, emptySyncState, linkKey } from '../engine/state.ts';

const columns = `p.remote_id as "remoteId", p.card_id as "cardId", p.origin, p.base, p.absences, jsonb_strip_nulls(
  jsonb_build_object('kind', p.state, 'gone', p.gone, 'evidence', p.evidence, 'since', utc(p.since))) as state`;

/** Selects pairs by their records and by their cards. */
export interface PairChoice {
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
  { remoteIds = [], cardIds = [] }: PairChoice,
): Promise<LoadedPairs> {
  // one condition at a time: with OR between them PostgreSQL reads all pairs
  const pairs = await selectPairs(sql, mappingId, 'p.remote_id = any(?::text[])', remoteIds);
  const { cards, redirects } = await findMerged(sql, [...cardIds, ...pairs.map(({ cardId }) => cardId)]);
  pairs.push(...(await selectPairs(sql, mappingId, 'p.card_id = any(?::uuid[])', [...cards])));
  pairs.sort((left, right) => (left.remoteId < right.remoteId ? -1 : 1));
  return { pairs: new Map(pairs.map((pair) => [pair.remoteId, pair])), redirects };
}

async function selectPairs(
  sql: Sql,
  mappingId: string,
  condition: string,
  ids: readonly string[],
): Promise<Pair[]> {
  if (ids.length === 0) return [];
  return await queryRows(sql, `select ${columns} from itsm_pairs p where p.mapping_id = ? and ${condition}`, [
    mappingId,
    ids,
  ]);
}

/** The cards with all that they were merged into, or that were merged into them, transitively. */
async function findMerged(
  sql: Sql,
  own: readonly string[],
): Promise<{ cards: Set<string>; redirects: Map<string, string> }> {
  const cards = new Set(own);
  const redirects = new Map<string, string>();
  for (let fresh = [...cards]; fresh.length > 0; ) {
    const { rows } = await sql.raw(
      `select card_id, survivor_id from card_redirects
       where card_id = any(?::uuid[]) or survivor_id = any(?::uuid[])`,
      [fresh, fresh],
    );
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

/** Agreed relations with one of the records at either end. */
export async function readLinks(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<AgreedLink[]> {
  return await queryColumn<AgreedLink>(
    sql,
    `select jsonb_strip_nulls(jsonb_build_object('relationType', relation_type, 'source', source, 'target', target,
       'relationId', remote_relation_id)) as link
     from itsm_links where mapping_id = ? and (source = any(?::text[]) or target = any(?::text[]))
     order by relation_type, source, target`,
    [mappingId, remoteIds, remoteIds],
  );
}

/** The surviving cards of records of all mappings of the connection. */
export async function findCardsOfRecords(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql.raw(
    `select p.remote_id, ${survivingCard('p.card_id')} as card_id from itsm_pairs p
     join itsm_mappings m on m.id = p.mapping_id
     join itsm_mappings own on own.id = ? and own.connection_id = m.connection_id
     where p.remote_id = any(?::text[]) and p.state in ('linked', 'quarantined')`,
    [mappingId, remoteIds],
  );
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
  const stored = await selectPairs(sql, mappingId, 'p.remote_id = any(?::text[])', [...ids]);
  const syncState = emptySyncState();
  for (const pair of stored) syncState.pairs.set(pair.remoteId, pair);
  applyChanges(syncState, changes);
  await deletePairs(
    sql,
    mappingId,
    stored.map(({ remoteId }) => remoteId).filter((id) => !syncState.pairs.has(id)),
  );
  await upsertPairs(sql, mappingId, [...syncState.pairs.values()]);
  await deleteLinks(
    sql,
    mappingId,
    [...links].flatMap(([key, link]) => (syncState.links.has(key) ? [] : [link])),
  );
  await upsertLinks(sql, mappingId, [...syncState.links.values()]);
  const again = changes.some(({ op }) => op === 'again');
  const watermark = changes.some(({ op }) => op === 'watermark');
  if (!again && !watermark) return;
  await sql('itsm_sync_states')
    .where({ mapping_id: mappingId })
    .update({
      ...(again && { again: [...syncState.again] }),
      ...(watermark && { watermark: syncState.watermark }),
    });
}

async function deletePairs(sql: Sql, mappingId: string, remoteIds: readonly string[]): Promise<void> {
  if (remoteIds.length === 0) return;
  await sql('itsm_pairs').where({ mapping_id: mappingId }).whereIn('remote_id', remoteIds).delete();
}

async function upsertPairs(sql: Sql, mappingId: string, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  await sql.raw(
    `insert into itsm_pairs (mapping_id, remote_id, card_id, origin, state, gone, evidence, since, base, absences)
     select ?::uuid, "remoteId", "cardId", origin, state ->> 'kind', state ->> 'gone', state ->> 'evidence',
       (state ->> 'since')::timestamptz, base, absences
     from json_to_recordset(?::json)
       as v("remoteId" text, "cardId" uuid, origin text, state jsonb, base jsonb, absences integer)
     on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, origin = excluded.origin,
       state = excluded.state, gone = excluded.gone, evidence = excluded.evidence, since = excluded.since,
       base = excluded.base, absences = excluded.absences`,
    [mappingId, JSON.stringify(pairs)],
  );
}

async function deleteLinks(sql: Sql, mappingId: string, links: readonly AgreedLink[]): Promise<void> {
  if (links.length === 0) return;
  await sql.raw(
    `delete from itsm_links l using json_to_recordset(?::json) as v("relationType" text, source text, target text)
     where l.mapping_id = ? and l.relation_type = v."relationType" and l.source = v.source and l.target = v.target`,
    [JSON.stringify(links), mappingId],
  );
}

async function upsertLinks(sql: Sql, mappingId: string, links: readonly AgreedLink[]): Promise<void> {
  if (links.length === 0) return;
  await sql.raw(
    `insert into itsm_links (mapping_id, relation_type, source, target, remote_relation_id)
     select ?::uuid, v.* from json_to_recordset(?::json)
       as v("relationType" text, source text, target text, "relationId" text)
     on conflict (mapping_id, relation_type, source, target) do update
       set remote_relation_id = coalesce(excluded.remote_relation_id, itsm_links.remote_relation_id)`,
    [mappingId, JSON.stringify(links)],
  );
}
