import type { FieldMapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { embed, fragment, query, type Sql } from '../../../../platform/database.ts';
import type { RemoteRecord } from '../remote.ts';

/** What a run has observed of a record. */
export interface RecordObservation {
  remote_id: string;
  /** Null: unchanged since the last run, or not read. */
  record: RemoteRecord | null;
  /** Read as part of a page. */
  shown: boolean;
  /** The result of reading it by key. */
  look: 'there' | 'gone' | 'unknown' | null;
  tombstone: { at: string; mergedInto?: string } | null;
  /** The class of a record that is in the table of another class now. */
  reclassified: string | null;
}

/** An observation with its defaults. */
export const createObservation = (remoteId: string, more: Partial<RecordObservation>): RecordObservation => ({
  remote_id: remoteId,
  record: null,
  shown: false,
  look: null,
  tombstone: null,
  reclassified: null,
  ...more,
});

const isLive = embed(`p.state in ('linked', 'quarantined')`);

async function selectObservedIds(
  sql: Sql,
  runId: string,
  remoteIds: readonly string[],
  condition: string,
): Promise<Set<string>> {
  return new Set(
    await query(sql)
      .column<string>`select remote_id from itsm_run_records where run_id = ${runId} and remote_id = any(${remoteIds}::text[]) and ${embed(condition)}`,
  );
}

/** Which of these records were gone when they were read by key. */
export const findGone = (sql: Sql, runId: string, remoteIds: readonly string[]): Promise<Set<string>> =>
  selectObservedIds(sql, runId, remoteIds, `look = 'gone' and reclassified is null`);

/** Which of these records are deleted, by a read by key or else by a tombstone. */
export const findDeleted = (sql: Sql, runId: string, remoteIds: readonly string[]): Promise<Set<string>> =>
  selectObservedIds(
    sql,
    runId,
    remoteIds,
    `coalesce(look = 'gone', tombstone is not null) and reclassified is null`,
  );

export const findObserved = (sql: Sql, runId: string, remoteIds: readonly string[]): Promise<Set<string>> =>
  selectObservedIds(sql, runId, remoteIds, 'true');

/** Stores observations. Of a record that is observed twice the newer state counts. */
export async function storeObserved(
  sql: Sql,
  runId: string,
  records: readonly RecordObservation[],
): Promise<void> {
  if (records.length === 0) return;
  await query(sql)
    .run`insert into itsm_run_records as r (run_id, remote_id, record, shown, look, tombstone, reclassified)
     select ${runId}::uuid, v.* from json_to_recordset(${JSON.stringify(records)}::json)
       as v(remote_id text, record jsonb, shown boolean, look text, tombstone jsonb, reclassified text)
     on conflict (run_id, remote_id) do update set
       record = case when excluded.record is null or r.record ->> 'updatedAt' > excluded.record ->> 'updatedAt'
         then r.record else excluded.record end,
       shown = r.shown or excluded.shown,
       look = coalesce(excluded.look, r.look),
       reclassified = case when excluded.look is null then r.reclassified else excluded.reclassified end,
       tombstone = coalesce(excluded.tombstone, r.tombstone)`;
}

/** Observations of these records, and of those that they were merged into. */
export async function readObserved(
  sql: Sql,
  runId: string,
  remoteIds: readonly string[],
): Promise<RecordObservation[]> {
  return await query(sql).rows`with asked as (select unnest(${remoteIds}::text[]) as id)
     select remote_id, record, shown, look, tombstone, reclassified from itsm_run_records
     where run_id = ${runId} and remote_id in (select id from asked
       union select m.tombstone ->> 'mergedInto' from itsm_run_records m join asked a on a.id = m.remote_id
       where m.run_id = ${runId})
     order by remote_id`;
}

export async function deleteObserved(sql: Sql, runId: string): Promise<void> {
  await sql('itsm_run_records').where({ run_id: runId }).delete();
}

/** A page of ids in their order, after the given one. */
export type IdPage = (after: string, limit: number) => Promise<string[]>;

/** @param from the tables and conditions of the rows, of which `id` identifies one. */
const pageOf =
  (sql: Sql, id: string, from: ReturnType<typeof fragment>): IdPage =>
  async (after, limit) =>
    await query(sql)
      .column<string>`select ${embed(id)} as id from ${embed(from)} and ${embed(id)} > ${after} order by ${embed(id)} limit ${limit}`;

/** Observed records with a pair. */
export const observedPairs = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    'r.remote_id',
    fragment`itsm_run_records r join itsm_pairs p on p.mapping_id = ${mappingId} and p.remote_id = r.remote_id
     where r.run_id = ${runId}`,
  );

export const allPairs = (sql: Sql, mappingId: string): IdPage =>
  pageOf(sql, 'remote_id', fragment`itsm_pairs where mapping_id = ${mappingId}`);

/** Records of linked and quarantined pairs. */
export const livePairs = (sql: Sql, mappingId: string): IdPage =>
  pageOf(sql, 'p.remote_id', fragment`itsm_pairs p where p.mapping_id = ${mappingId} and ${isLive}`);

const changedOf = (runId: string) =>
  fragment`itsm_run_records r where r.run_id = ${runId} and r.shown and r.record is not null`;

/** Records that were read as part of a page and have changed. */
export const changedRecords = (sql: Sql, runId: string): IdPage =>
  pageOf(sql, 'r.remote_id', changedOf(runId));

/** The same without those that have a live pair. */
export const unpairedRecords = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    'r.remote_id',
    fragment`${embed(changedOf(runId))} and not exists (
    select from itsm_pairs p where p.mapping_id = ${mappingId} and p.remote_id = r.remote_id and ${isLive})`,
  );

/** Active cards of a type without a live pair. */
export const unpairedCards = (sql: Sql, mappingId: string, cardType: string): IdPage => {
  const from = fragment`cards c where c.type = ${cardType} and c.status = 'ACTIVE'
    and not exists (select from itsm_pairs p where p.card_id = c.id and p.mapping_id = ${mappingId} and ${isLive})`;
  const page = pageOf(sql, 'c.id', from);
  return (after, limit) => page(after || '00000000-0000-0000-0000-000000000000', limit);
};

/** The number of linked and quarantined pairs. */
export async function countLivePairs(sql: Sql, mappingId: string): Promise<number> {
  return await query(sql)
    .value`select count(*)::int as n from itsm_pairs p where p.mapping_id = ${mappingId} and ${isLive}`;
}

/** Records with a pair that a full read did not show, and of which nothing else is known. */
export const missingRecords = (sql: Sql, runId: string, mappingId: string): IdPage => {
  const from = fragment`itsm_pairs p left join itsm_run_records r on r.run_id = ${runId} and r.remote_id = p.remote_id
     where p.mapping_id = ${mappingId} and p.state <> 'unmapped' and coalesce(not r.shown and r.look is null
       and r.tombstone is null, true)
       and (p.state <> 'removed' or exists (select from cards c where c.id = p.card_id and c.status = 'ACTIVE'))`;
  return pageOf(sql, 'p.remote_id', from);
};

/**
 * Records with a tombstone that were shown or have a pair, and records that others were merged into, if they have not been
 * read by key yet. A restored record keeps the tombstone of its deletion.
 */
export const unconfirmedDeletions = (sql: Sql, runId: string, mappingId: string): IdPage => {
  const from = fragment`(
       select r.remote_id as id from itsm_run_records r
       where r.run_id = ${runId} and r.tombstone is not null and r.look is null
         and (r.shown or exists (select from itsm_pairs p where p.mapping_id = ${mappingId} and p.remote_id = r.remote_id
           and p.state not in ('unmapped', 'removed')))
       union
       select t.tombstone ->> 'mergedInto' from itsm_run_records t
       left join itsm_run_records r on r.run_id = t.run_id and r.remote_id = t.tombstone ->> 'mergedInto'
       where t.run_id = ${runId} and t.tombstone ->> 'mergedInto' is not null and not coalesce(r.shown, false) and r.look is null
     ) doubtful where true`;
  return pageOf(sql, 'id', from);
};

/** Records without a pair for which reading by key was inconclusive. */
export async function inconclusiveRecords(sql: Sql, runId: string, mappingId: string): Promise<string[]> {
  return await query(sql)
    .column<string>`select r.remote_id from itsm_run_records r where r.run_id = ${runId} and r.look = 'unknown'
       and not exists (select from itsm_pairs p where p.mapping_id = ${mappingId} and p.remote_id = r.remote_id)`;
}

/**
 * Columns that were read as empty although the base is not or does not exist, or in a record without a card or in
 * quarantine: the account may lack the right to read them.
 */
export async function findSuspiciouslyEmptyColumns(
  sql: Sql,
  runId: string,
  mappingId: string,
  fields: readonly Pick<FieldMapping, 'card_field' | 'remote_field'>[],
): Promise<string[]> {
  return await query(sql)
    .column<string>`select distinct f.col from json_to_recordset(${JSON.stringify(fields)}::json) as m(card_field text, remote_field text),
       lateral (values (m.card_field, m.remote_field)) as f(path, col)
     where exists (
       select from itsm_run_records r
       left join itsm_pairs p on p.mapping_id = ${mappingId} and p.remote_id = r.remote_id
       where r.run_id = ${runId} and r.record is not null
         and coalesce(r.record -> 'fields' -> f.col ->> 'value', '') = ''
         and (p.remote_id is null or p.state = 'quarantined'
           or p.state = 'linked'
             and (not jsonb_exists(p.base, f.path) or coalesce(p.base -> f.path ->> 'remote', '') <> ''))
     )
     order by f.col`;
}

/** A record with values that refer to records or cards without a pair, so that they cannot be resolved yet. */
export interface DeferredRecord {
  remote_id: string;
  /** Records and cards that need a pair first. */
  records: string[];
  cards: string[];
}

export async function findDeferred(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<Set<string>> {
  return new Set(
    await query(sql)
      .column<string>`select remote_id from itsm_deferred_records where mapping_id = ${mappingId} and run_id is null
       and remote_id = any(${remoteIds}::text[])`,
  );
}

/**
 * Observes deferred records that can be resolved now, as they were last read: their cards have changed, or what they refer to
 * has a pair. They need not be read again: had they changed, the run would have read them.
 * @param targets the mappings of the references.
 */
export async function observeDeferred(
  sql: Sql,
  { runId, mappingId, targets }: { runId: string; mappingId: string; targets: readonly string[] },
): Promise<void> {
  const unchanged = embed('r.record is null and r.look is null and r.tombstone is null');
  // lateral joins with OFFSET 0 enforce index lookups: the planner underestimates rows that were just written
  await query(sql).run`with deferred as materialized (
       select w.remote_id, w.record, w.records, w.cards from itsm_deferred_records w
       where w.mapping_id = ${mappingId} and w.run_id is null
     ), reached as materialized (
       select w.remote_id, w.record from deferred w cross join lateral (
         select 1 from itsm_run_records r where r.run_id = ${runId} and r.remote_id = w.remote_id and ${unchanged} offset 0) r
       union
       select w.remote_id, w.record from deferred w, unnest(w.records) as a(id), unnest(${targets}::uuid[]) as m(id)
         cross join lateral (
           select 1 from itsm_pairs p where p.mapping_id = m.id and p.remote_id = a.id and ${isLive} offset 0) p
       union
       select w.remote_id, w.record from deferred w, unnest(w.cards) as a(id), unnest(${targets}::uuid[]) as m(id)
         cross join lateral (
           select 1 from itsm_pairs p where p.mapping_id = m.id and p.card_id = a.id and ${isLive} offset 0) p
     )
     insert into itsm_run_records as r (run_id, remote_id, record, shown)
     select ${runId}::uuid, w.remote_id, w.record, w.record is not null from reached w cross join lateral (
       select 1 from itsm_pairs p where p.mapping_id = ${mappingId} and p.remote_id = w.remote_id and ${isLive} offset 0) p
     on conflict (run_id, remote_id) do update set record = excluded.record, shown = r.shown or excluded.shown
       where ${unchanged}`;
}

/** Deletes deferred records of plans that were not completed. */
export async function deleteUncommittedDeferred(sql: Sql, mappingId: string): Promise<void> {
  await sql('itsm_deferred_records').where({ mapping_id: mappingId }).whereNotNull('run_id').delete();
}

/** Stores the records that a plan defers, as the run has read them. */
export async function storeDeferred(
  sql: Sql,
  mappingId: string,
  runId: string,
  deferred: readonly DeferredRecord[],
): Promise<void> {
  await query(sql)
    .run`insert into itsm_deferred_records (mapping_id, remote_id, run_id, record, records, cards)
     select ${mappingId}::uuid, w.remote_id, ${runId}::uuid, coalesce(r.record, before.record), w.records, w.cards
     from json_to_recordset(${JSON.stringify(deferred)}::json) as w(remote_id text, records text[], cards uuid[])
     left join lateral (
       select r.record from itsm_run_records r where r.run_id = ${runId}::uuid and r.remote_id = w.remote_id offset 0) r on true
     left join lateral (
       select b.record from itsm_deferred_records b where b.mapping_id = ${mappingId}::uuid and b.remote_id = w.remote_id
         and b.run_id is null offset 0) before on true`;
}

/** Notes which deferred records the run has resolved: it has planned them without deferring them again. */
export async function markResolvedDeferred(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await query(sql).run`insert into itsm_deferred_records (mapping_id, remote_id, run_id)
     select w.mapping_id, w.remote_id, r.run_id from itsm_deferred_records w cross join lateral (
       select r.run_id from itsm_run_records r where r.run_id = ${runId} and r.remote_id = w.remote_id offset 0) r
     where w.mapping_id = ${mappingId} and w.run_id is null
     on conflict do nothing`;
}

/** Puts the deferred records of a run into force. */
export async function commitDeferred(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await query(sql)
    .run`delete from itsm_deferred_records w where w.mapping_id = ${mappingId} and w.run_id is null
       and exists (select from itsm_deferred_records n where n.mapping_id = w.mapping_id
         and n.remote_id = w.remote_id and n.run_id = ${runId} offset 0)`;
  await query(sql)
    .run`delete from itsm_deferred_records w where w.mapping_id = ${mappingId} and w.run_id is null
       and not exists (select from itsm_pairs p where p.mapping_id = w.mapping_id
         and p.remote_id = w.remote_id and ${isLive} offset 0)`;
  await sql('itsm_deferred_records').where({ run_id: runId }).whereNull('records').delete();
  await sql('itsm_deferred_records').where({ run_id: runId }).update({ run_id: null });
}
