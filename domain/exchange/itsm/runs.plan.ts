import type { Sql } from '../../../platform/database.ts';
import type { SyncValue } from './mappings.types.ts';

/** A row of a plan to be stored. */
export interface NewPlanRow {
  no: number;
  action: string;
  side: 'local' | 'remote' | null;
  remote_id: string | null;
  card_id: string | null;
  /** What else there is of it in the engine's terms; members that are empty may be left out. */
  row: object;
}

/** Columns of {@link NewPlanRow}. */
export const planColumns = 'no, action, side, remote_id, card_id, row';

/** Stores rows of a plan that is being made. @param approved whether they are approved with it. */
export async function addPlanRows(
  sql: Sql,
  runId: string,
  rows: readonly NewPlanRow[],
  approved = false,
): Promise<void> {
  if (rows.length === 0) return;
  await sql.raw(
    // the text of each row is parsed once: jsonb would take all of them apart before
    `insert into itsm_plan_rows (run_id, no, action, side, remote_id, card_id, row, approval)
     select ?::uuid, v.*, ? from json_to_recordset(?::json)
       as v(no integer, action text, side text, remote_id text, card_id uuid, row jsonb)`,
    [runId, approved ? 'approved' : null, JSON.stringify(rows)],
  );
}

/** Approves all rows of a plan on which nobody has decided yet, or leaves them to a person's word. */
export async function approvePlan(sql: Sql, runId: string, approved: boolean): Promise<void> {
  await sql('itsm_plan_rows')
    .where({ run_id: runId })
    .update({ approval: approved ? 'approved' : null });
}

/** Takes back a plan that was not made to its end. */
export async function dropPlan(sql: Sql, runId: string): Promise<void> {
  await sql('itsm_plan_rows').where({ run_id: runId }).delete();
}

/** How many rows of a run's plan there are, by action. */
export async function countPlan(sql: Sql, runId: string): Promise<Record<string, number>> {
  const { rows } = await sql.raw(
    'select action, count(*)::int as n from itsm_plan_rows where run_id = ? group by action order by action',
    [runId],
  );
  return Object.fromEntries(rows.map(({ action, n }: { action: string; n: number }) => [action, n]));
}

/** How many relations waited for mappings that did not run, as the mapping's last completed run has told. */
export async function relationsWaiting(sql: Sql, mappingId: string): Promise<number> {
  const { rows } = await sql.raw(
    `select coalesce((stats ->> 'relations_waiting')::int, 0) as n from itsm_runs
     where mapping_id = ? and status = 'completed' and undo_of is null order by id desc limit 1`,
    [mappingId],
  );
  return rows[0]?.n ?? 0;
}

/** Records to read again that a look told nothing about, and that no pair remembers. */
export async function unknownRecords(sql: Sql, runId: string, mappingId: string): Promise<string[]> {
  const { rows } = await sql.raw(
    `select r.remote_id from itsm_run_records r where r.run_id = ? and r.look = 'unknown'
       and not exists (select from itsm_pairs p where p.mapping_id = ? and p.remote_id = r.remote_id)`,
    [runId, mappingId],
  );
  return rows.map(({ remote_id }: { remote_id: string }) => remote_id);
}

/** What a row asks of a person, in the columns of the questions. */
const askedKind = `case action when 'stage' then 'match' else 'conflict' end`;
const askedLocal = `row -> 'diff' -> coalesce(row ->> 'path', '') -> 'old'`;
const askedRemote = `case action
  when 'stage' then (select jsonb_object_agg(d.key, d.value -> 'new') from jsonb_each(row -> 'diff') d)
  else row -> 'diff' -> coalesce(row ->> 'path', '') -> 'new' end`;

/**
 * Marks the rows that repeat a question which is open with the same values, with the time since when it is open.
 * @returns how many there are.
 */
export async function markOpenQuestions(sql: Sql, runId: string, mappingId: string): Promise<number> {
  const { rowCount } = await sql.raw(
    `with asked as (
       select no, ${askedKind} as kind, remote_id, card_id, row ->> 'path' as path, ${askedLocal} as local,
         ${askedRemote} as remote
       from itsm_plan_rows where run_id = ? and action in ('conflict', 'stage')
     )
     update itsm_plan_rows p set open_since = q.asked_at from asked a
     join itsm_questions q on q.mapping_id = ? and q.kind = a.kind and coalesce(q.remote_id, '') = coalesce(a.remote_id, '')
       and coalesce(q.card_id::text, '') = coalesce(a.card_id::text, '') and coalesce(q.path, '') = coalesce(a.path, '')
       and q.local is not distinct from a.local and q.remote is not distinct from a.remote
     where p.run_id = ? and p.no = a.no`,
    [runId, mappingId, runId],
  );
  return rowCount;
}

/**
 * Puts what a plan leaves to persons among the open questions, and takes away those that it has judged and that are
 * open no more. @param complete the plan has judged everything.
 */
export async function askQuestions(
  sql: Sql,
  runId: string,
  mappingId: string,
  complete: boolean,
): Promise<void> {
  await sql.raw(
    `insert into itsm_questions as q
       (mapping_id, kind, remote_id, card_id, path, local, remote, reason, candidates, run_id, refused_side)
     select ?::uuid, ${askedKind}, remote_id, card_id, row ->> 'path', ${askedLocal}, ${askedRemote}, row ->> 'reason',
       coalesce(row -> 'candidates', '[]'), run_id, row ->> 'refusedBy'
     from itsm_plan_rows where run_id = ? and action in ('conflict', 'stage')
     on conflict (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''))
     do update set local = excluded.local, remote = excluded.remote, reason = excluded.reason,
       candidates = excluded.candidates, run_id = excluded.run_id, refused_side = excluded.refused_side`,
    [mappingId, runId],
  );
  await sql.raw(
    `delete from itsm_questions q where q.mapping_id = ? and q.run_id is distinct from ?
       and (? or q.remote_id is null
         or exists (select from itsm_run_records r where r.run_id = ? and r.remote_id = q.remote_id))`,
    [mappingId, runId, complete, runId],
  );
}

/** Persons' words on conflicts and on which card a record is. */
export async function readWords(
  sql: Sql,
  mappingId: string,
): Promise<{
  resolutions: {
    remoteId: string;
    path: string | null;
    winner: 'local' | 'remote';
    seen: { local: SyncValue; remote: SyncValue };
  }[];
  decisions: { remoteId: string; cardId: string | null }[];
}> {
  const { rows } = await sql.raw(
    `select remote_id as "remoteId", path, winner, jsonb_build_object('local', local, 'remote', remote) as seen
     from itsm_resolutions where mapping_id = ?`,
    [mappingId],
  );
  const { rows: decisions } = await sql.raw(
    'select remote_id as "remoteId", card_id as "cardId" from itsm_decisions where mapping_id = ?',
    [mappingId],
  );
  return { resolutions: rows, decisions };
}

const waits = `progress = 'pending' and approval is distinct from 'rejected'
  and action not in ('conflict', 'stage', 'skip')`;

/** Rows of a plan by how they stand; `waiting`: a person may still have them applied. */
export async function countOutcomes(
  sql: Sql,
  runId: string,
): Promise<{ action: string; progress: string; approval: string | null; waiting: boolean; n: number }[]> {
  const { rows } = await sql.raw(
    `select action, progress, approval, ${waits} as waiting, count(*)::int as n from itsm_plan_rows
     where run_id = ? group by action, progress, approval`,
    [runId],
  );
  return rows;
}

/** Records that rows of a run's plan are about; null where they are more than `most`. */
export async function plannedRecords(sql: Sql, runId: string, most: number): Promise<string[] | null> {
  const { rows } = await sql.raw(
    `select distinct remote_id from itsm_plan_rows where run_id = ? and remote_id is not null limit ?`,
    [runId, most + 1],
  );
  return rows.length > most ? null : rows.map(({ remote_id }: { remote_id: string }) => remote_id);
}

/** Records of rows that were not carried out: the next run looks at them again. */
export async function openRecords(sql: Sql, runId: string): Promise<string[]> {
  const { rows } = await sql.raw(
    `select distinct remote_id from itsm_plan_rows where run_id = ? and remote_id is not null
       and (progress in ('stale', 'refused') or (progress = 'pending' and action not in ('conflict', 'stage', 'skip')))`,
    [runId],
  );
  return rows.map(({ remote_id }: { remote_id: string }) => remote_id);
}

/** Ends the rows that only tell. */
export async function passOver(sql: Sql, runId: string): Promise<void> {
  await sql.raw(
    `update itsm_plan_rows set progress = 'skipped', ended_at = now()
     where run_id = ? and progress = 'pending' and action in ('conflict', 'stage', 'skip')`,
    [runId],
  );
}

/** Rows that were applied outside, but for relations, in their order from behind a number on. */
export async function appliedOutside(
  sql: Sql,
  runId: string,
  after: number,
  limit: number,
): Promise<(NewPlanRow & { made_id: string | null })[]> {
  const { rows } = await sql.raw(
    `select ${planColumns}, made_id from itsm_plan_rows where run_id = ? and no > ? and side = 'remote'
       and progress = 'applied' and action not in ('relate', 'unrelate') order by no limit ?`,
    [runId, after, limit],
  );
  return rows;
}
