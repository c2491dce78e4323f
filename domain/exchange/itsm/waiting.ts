import type { Sql } from '../../../platform/database.ts';

/** A record with values that cannot be told here, or of whose card some cannot be told there. */
export interface WaitingRecord {
  remote_id: string;
  /** Records that have to be mapped first, and cards. */
  records: string[];
  cards: string[];
}

const alive = `p.state in ('linked', 'quarantined')`;

/** Which of these records wait. */
export async function waitingAmong(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql.raw(
    `select remote_id from itsm_waiting_records where mapping_id = ? and run_id is null
       and remote_id = any(?::text[])`,
    [mappingId, remoteIds] as never,
  );
  return new Set(rows.map(({ remote_id }: { remote_id: string }) => remote_id));
}

/**
 * Has a run hear of the records that wait and can be judged anew, as they were read last: their cards have changed, or
 * what they wait for has been mapped. The remote need not be asked: had they changed there, the run would have read them.
 * @param targets the mappings that references lead to.
 */
export async function hearWaiting(
  sql: Sql,
  { runId, mappingId, targets }: { runId: string; mappingId: string; targets: readonly string[] },
): Promise<void> {
  const unsaid = 'r.record is null and r.look is null and r.tombstone is null';
  // each looked up by itself: what has just been written the planner takes for little, and would read all of it for each
  await sql.raw(
    `with waiting as materialized (
       select w.remote_id, w.record, w.records, w.cards from itsm_waiting_records w
       where w.mapping_id = ? and w.run_id is null
     ), reached as materialized (
       select w.remote_id, w.record from waiting w cross join lateral (
         select 1 from itsm_run_records r where r.run_id = ? and r.remote_id = w.remote_id and ${unsaid} offset 0) r
       union
       select w.remote_id, w.record from waiting w, unnest(w.records) as a(id), unnest(?::uuid[]) as m(id)
         cross join lateral (
           select 1 from itsm_pairs p where p.mapping_id = m.id and p.remote_id = a.id and ${alive} offset 0) p
       union
       select w.remote_id, w.record from waiting w, unnest(w.cards) as a(id), unnest(?::uuid[]) as m(id)
         cross join lateral (
           select 1 from itsm_pairs p where p.mapping_id = m.id and p.card_id = a.id and ${alive} offset 0) p
     )
     insert into itsm_run_records as r (run_id, remote_id, record, shown)
     select ?::uuid, w.remote_id, w.record, w.record is not null from reached w cross join lateral (
       select 1 from itsm_pairs p where p.mapping_id = ? and p.remote_id = w.remote_id and ${alive} offset 0) p
     on conflict (run_id, remote_id) do update set record = excluded.record, shown = r.shown or excluded.shown
       where ${unsaid}`,
    [mappingId, runId, targets, targets, runId, mappingId] as never,
  );
}

/** Forgets what plans have found that did not come to their end. */
export async function dropWaiting(sql: Sql, mappingId: string): Promise<void> {
  await sql('itsm_waiting_records').where({ mapping_id: mappingId }).whereNotNull('run_id').delete();
}

/** Keeps which records wait by a run's plan, with what the run has read of them. */
export async function addWaiting(
  sql: Sql,
  mappingId: string,
  runId: string,
  waiting: readonly WaitingRecord[],
): Promise<void> {
  await sql.raw(
    `insert into itsm_waiting_records (mapping_id, remote_id, run_id, record, records, cards)
     select ?::uuid, w.remote_id, ?::uuid, coalesce(r.record, before.record), w.records, w.cards
     from json_to_recordset(?::json) as w(remote_id text, records text[], cards uuid[])
     left join lateral (
       select r.record from itsm_run_records r where r.run_id = ?::uuid and r.remote_id = w.remote_id offset 0) r on true
     left join lateral (
       select b.record from itsm_waiting_records b where b.mapping_id = ?::uuid and b.remote_id = w.remote_id
         and b.run_id is null offset 0) before on true`,
    [mappingId, runId, JSON.stringify(waiting), runId, mappingId],
  );
}

/** Notes which of those that have waited do so no more: the run has judged them, and they are not among its own. */
export async function endWaiting(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await sql.raw(
    `insert into itsm_waiting_records (mapping_id, remote_id, run_id)
     select w.mapping_id, w.remote_id, r.run_id from itsm_waiting_records w cross join lateral (
       select r.run_id from itsm_run_records r where r.run_id = ? and r.remote_id = w.remote_id offset 0) r
     where w.mapping_id = ? and w.run_id is null
     on conflict do nothing`,
    [runId, mappingId],
  );
}

/** What a run has found is in force. */
export async function settleWaiting(sql: Sql, mappingId: string, runId: string): Promise<void> {
  await sql.raw(
    `delete from itsm_waiting_records w where w.mapping_id = ? and w.run_id is null
       and exists (select from itsm_waiting_records n where n.mapping_id = w.mapping_id
         and n.remote_id = w.remote_id and n.run_id = ? offset 0)`,
    [mappingId, runId],
  );
  await sql.raw(
    `delete from itsm_waiting_records w where w.mapping_id = ? and w.run_id is null
       and not exists (select from itsm_pairs p where p.mapping_id = w.mapping_id
         and p.remote_id = w.remote_id and ${alive} offset 0)`,
    [mappingId],
  );
  await sql('itsm_waiting_records').where({ run_id: runId }).whereNull('records').delete();
  await sql('itsm_waiting_records').where({ run_id: runId }).update({ run_id: null });
}
