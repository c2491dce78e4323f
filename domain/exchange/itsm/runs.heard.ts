import type { Sql } from '../../../platform/database.ts';
import type { HeardRecord } from './runs.types.ts';

/** Ids of a stretch, in their order, from behind the given one on. */
export type IdPage = (after: string, limit: number) => Promise<string[]>;

/** What has been heard of a record; what is not named has not been. */
export const heard = (remoteId: string, more: Partial<HeardRecord>): HeardRecord => ({
  remote_id: remoteId,
  record: null,
  shown: false,
  look: null,
  tombstone: null,
  reclassified: null,
  ...more,
});

/** Which of these records a look of the run has found to be gone. */
export async function goneAmong(sql: Sql, runId: string, remoteIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.raw(
    `select remote_id from itsm_run_records where run_id = ? and remote_id = any(?::text[]) and look = 'gone'
       and reclassified is null`,
    [runId, remoteIds] as never,
  );
  return new Set(rows.map(({ remote_id }: { remote_id: string }) => remote_id));
}

/** Which of these records the run knows to be deleted, by a look or else by a tombstone. */
export async function calledGone(
  sql: Sql,
  runId: string,
  remoteIds: readonly string[],
): Promise<Set<string>> {
  if (remoteIds.length === 0) return new Set();
  const { rows } = await sql.raw(
    `select remote_id from itsm_run_records where run_id = ? and remote_id = any(?::text[])
       and coalesce(look = 'gone', tombstone is not null) and reclassified is null`,
    [runId, remoteIds] as never,
  );
  return new Set(rows.map(({ remote_id }: { remote_id: string }) => remote_id));
}

/** Which of these records a run has heard of already. */
export async function heardOf(sql: Sql, runId: string, remoteIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.raw(
    'select remote_id from itsm_run_records where run_id = ? and remote_id = any(?::text[])',
    [runId, remoteIds] as never,
  );
  return new Set(rows.map(({ remote_id }: { remote_id: string }) => remote_id));
}

/** Keeps what a run has heard of records; of what is heard twice the newer state counts. */
export async function keepHeard(sql: Sql, runId: string, heard: readonly HeardRecord[]): Promise<void> {
  if (heard.length === 0) return;
  await sql.raw(
    `insert into itsm_run_records as r (run_id, remote_id, record, shown, look, tombstone, reclassified)
     select ?::uuid, v.* from json_to_recordset(?::json)
       as v(remote_id text, record jsonb, shown boolean, look text, tombstone jsonb, reclassified text)
     on conflict (run_id, remote_id) do update set
       record = case when excluded.record is null or r.record ->> 'updatedAt' > excluded.record ->> 'updatedAt'
         then r.record else excluded.record end,
       shown = r.shown or excluded.shown,
       look = coalesce(excluded.look, r.look),
       reclassified = case when excluded.look is null then r.reclassified else excluded.reclassified end,
       tombstone = coalesce(excluded.tombstone, r.tombstone)`,
    [runId, JSON.stringify(heard)],
  );
}

/** What a run has heard of these records, and of those that they were merged into. */
export async function readHeard(
  sql: Sql,
  runId: string,
  remoteIds: readonly string[],
): Promise<HeardRecord[]> {
  const heard = await heardRows(sql, runId, remoteIds);
  const asked = new Set(remoteIds);
  const others = heard.flatMap(({ tombstone }) => tombstone?.mergedInto ?? []).filter((id) => !asked.has(id));
  return others.length === 0 ? heard : await heardRows(sql, runId, [...new Set([...remoteIds, ...others])]);
}

async function heardRows(sql: Sql, runId: string, remoteIds: readonly string[]): Promise<HeardRecord[]> {
  const { rows } = await sql.raw(
    `select remote_id, record, shown, look, tombstone, reclassified from itsm_run_records
     where run_id = ? and remote_id = any(?::text[]) order by remote_id`,
    [runId, remoteIds] as never,
  );
  return rows;
}

/** Forgets what a run has read. */
export async function forgetHeard(sql: Sql, runId: string): Promise<void> {
  await sql('itsm_run_records').where({ run_id: runId }).delete();
}

const alive = `p.state in ('linked', 'quarantined')`;

const pageOf =
  (sql: Sql, text: string, bindings: unknown[]): IdPage =>
  async (after, limit) => {
    const { rows } = await sql.raw(text, [...bindings, after, limit] as never);
    return rows.map(({ id }: { id: string }) => id);
  };

/** Records of pairs that the run has heard of. */
export const heardPairs = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    `select p.remote_id as id from itsm_run_records r
     join itsm_pairs p on p.mapping_id = ? and p.remote_id = r.remote_id
     where r.run_id = ? and r.remote_id > ? order by r.remote_id limit ?`,
    [mappingId, runId],
  );

/** Records of all pairs. */
export const allPairs = (sql: Sql, mappingId: string): IdPage =>
  pageOf(
    sql,
    'select remote_id as id from itsm_pairs where mapping_id = ? and remote_id > ? order by remote_id limit ?',
    [mappingId],
  );

/** Records of pairs that are kept in step, or wait for a removal. */
export const livePairs = (sql: Sql, mappingId: string): IdPage =>
  pageOf(
    sql,
    `select p.remote_id as id from itsm_pairs p where p.mapping_id = ? and ${alive} and p.remote_id > ?
     order by p.remote_id limit ?`,
    [mappingId],
  );

/** Records that the reading has shown with something new. */
export const shownRecords = (sql: Sql, runId: string): IdPage =>
  pageOf(
    sql,
    `select remote_id as id from itsm_run_records where run_id = ? and shown and record is not null
       and remote_id > ? order by remote_id limit ?`,
    [runId],
  );

/** The same without those that have a living pair. */
export const unpairedRecords = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    `select r.remote_id as id from itsm_run_records r where r.run_id = ? and r.shown and r.record is not null
       and not exists (select from itsm_pairs p where p.mapping_id = ? and p.remote_id = r.remote_id and ${alive})
       and r.remote_id > ? order by r.remote_id limit ?`,
    [runId, mappingId],
  );

/** Active cards of a type that no living pair was made with. */
export const unpairedCards = (sql: Sql, mappingId: string, cardType: string): IdPage => {
  const page = pageOf(
    sql,
    `select c.id from cards c where c.type = ? and c.status = 'ACTIVE'
       and not exists (select from itsm_pairs p where p.card_id = c.id and p.mapping_id = ? and ${alive})
       and c.id > ?::uuid order by c.id limit ?`,
    [cardType, mappingId],
  );
  return (after, limit) => page(after === '' ? '00000000-0000-0000-0000-000000000000' : after, limit);
};

/** How many pairs are kept in step, or wait for a removal. */
export async function countLivePairs(sql: Sql, mappingId: string): Promise<number> {
  const { rows } = await sql.raw(
    `select count(*)::int as n from itsm_pairs p where p.mapping_id = ? and ${alive}`,
    [mappingId],
  );
  return rows[0].n;
}

/** Records that a complete reading was without although they have pairs, and of which nothing else is known. */
export const missingRecords = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    `select p.remote_id as id from itsm_pairs p
     left join itsm_run_records r on r.run_id = ? and r.remote_id = p.remote_id
     where p.mapping_id = ? and p.state <> 'unmapped' and coalesce(not r.shown and r.look is null
       and r.tombstone is null, true)
       and (p.state <> 'removed' or exists (select from cards c where c.id = p.card_id and c.status = 'ACTIVE'))
       and p.remote_id > ? order by p.remote_id limit ?`,
    [runId, mappingId],
  );

/**
 * Records that are called deleted though they were shown or have a living pair, and those that others were merged into, not
 * looked at yet. A record that was restored keeps the tombstone of its deletion.
 */
export const doubtfulRecords = (sql: Sql, runId: string, mappingId: string): IdPage =>
  pageOf(
    sql,
    `with doubtful as (
       select r.remote_id as id from itsm_run_records r
       where r.run_id = ? and r.tombstone is not null and r.look is null
         and (r.shown or exists (select from itsm_pairs p where p.mapping_id = ? and p.remote_id = r.remote_id
           and p.state not in ('unmapped', 'removed')))
       union
       select t.tombstone ->> 'mergedInto' from itsm_run_records t
       left join itsm_run_records r on r.run_id = t.run_id and r.remote_id = t.tombstone ->> 'mergedInto'
       where t.run_id = ? and t.tombstone ->> 'mergedInto' is not null and not coalesce(r.shown, false) and r.look is null
     ) select id from doubtful where id > ? order by id limit ?`,
    [runId, mappingId, runId],
  );
