import type { Sql } from '../../../platform/database.ts';
import type { SyncValue } from './mappings.types.ts';
import { type NewPlanRow, planColumns } from './runs.plan.ts';

/** How far a row of a plan has come. */
type RowProgress = 'pending' | 'begun' | 'applied' | 'stale' | 'refused' | 'skipped';

/** A row of a plan as it stands. */
export interface StandingRow extends NewPlanRow {
  progress: RowProgress;
  approval: 'approved' | 'rejected' | null;
}

/** How a row has ended. */
export interface RowEnd {
  no: number;
  progress: RowProgress;
  message: string | null;
  made_id: string | null;
}

/** Rows of a run's plan in their order, from behind the given one on. */
export async function walkStandingRows(
  sql: Sql,
  runId: string,
  after: number,
  limit: number,
): Promise<StandingRow[]> {
  const { rows } = await sql.raw(
    `select ${planColumns}, progress, approval from itsm_plan_rows where run_id = ? and no > ? order by no limit ?`,
    [runId, after, limit],
  );
  return rows;
}

/** Runs of a mapping that have ended without knowing of some write whether it has arrived, oldest first. */
export async function unsettledRuns(sql: Sql, mappingId: string): Promise<string[]> {
  const { rows } = await sql.raw(
    `select r.id from itsm_runs r where r.mapping_id = ? and r.status in ('failed', 'cancelled', 'superseded')
       and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'begun') order by r.id`,
    [mappingId],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Rows of a run whose writes were sent, and of which nothing was heard. */
export async function readBegunRows(sql: Sql, runId: string): Promise<StandingRow[]> {
  const { rows } = await sql.raw(
    `select ${planColumns}, progress, approval from itsm_plan_rows where run_id = ? and progress = 'begun' order by no`,
    [runId],
  );
  return rows;
}

/** Notes rows whose writes are about to be sent. */
export async function noteBegun(sql: Sql, runId: string, nos: readonly number[]): Promise<void> {
  if (nos.length === 0) return;
  await sql.raw(
    `update itsm_plan_rows set progress = 'begun' where run_id = ? and no = any(?::integer[]) and progress = 'pending'`,
    [runId, nos] as never,
  );
}

/** Notes how rows have ended; each ends once. */
export async function noteEnded(sql: Sql, runId: string, ends: readonly RowEnd[]): Promise<void> {
  if (ends.length === 0) return;
  await sql.raw(
    `update itsm_plan_rows p set progress = v.progress, message = v.message, made_id = v.made_id,
       ended_at = clock_timestamp()
     from json_to_recordset(?::json) as v(no integer, progress text, message text, made_id text)
     where p.run_id = ? and p.no = v.no and p.progress in ('pending', 'begun')`,
    [JSON.stringify(ends), runId],
  );
}

/** Whether some row that is still to be applied takes values from a record into the inventory. */
export async function takesFromRecords(sql: Sql, runId: string): Promise<boolean> {
  const { rows } = await sql.raw(
    `select exists (select from itsm_plan_rows where run_id = ? and progress = 'pending' and remote_id is not null
       and (action = 'link' or (side = 'local' and action in ('create', 'update')))) as found`,
    [runId],
  );
  return rows[0].found;
}

/** A run's plan but for its rows, as it is needed to apply it. */
export interface StoredPlanHead {
  mapping_id: string;
  /** The mapping in the engine's terms, with what it need not know beside it. */
  mapping: unknown;
  /** Why it may not be applied; null when it may, or a person has overruled it. */
  stopped: string | null;
  closing: unknown;
  /** RFC 3339. */
  plan_made_at: string | null;
  /** The run that this one takes back. */
  undo_of: string | null;
}

/** What applying a run needs to know of it; undefined where there is no such run. */
export async function readPlanHead(sql: Sql, runId: string): Promise<StoredPlanHead | undefined> {
  const { rows } = await sql.raw(
    `select mapping_id, mapping, case when stopped_overruled_by is null then stopped end as stopped, closing,
       utc(plan_made_at) as plan_made_at, undo_of
     from itsm_runs where id = ?`,
    [runId],
  );
  return rows[0];
}

/** A row that was applied, with what it made. */
export interface AppliedRow extends NewPlanRow {
  made_id: string | null;
}

/** How many rows of a run were applied. */
export async function countApplied(sql: Sql, runId: string): Promise<number> {
  const { rows } = await sql.raw(
    `select count(*) as count from itsm_plan_rows where run_id = ? and progress = 'applied'`,
    [runId],
  );
  return rows[0].count;
}

/** Applied rows of a run from its end, before the given one. */
export async function walkAppliedBack(
  sql: Sql,
  runId: string,
  before: number,
  limit: number,
): Promise<AppliedRow[]> {
  const { rows } = await sql.raw(
    `select ${planColumns}, made_id from itsm_plan_rows where run_id = ? and progress = 'applied' and no < ?
     order by no desc limit ?`,
    [runId, before, limit],
  );
  return rows;
}

/** Values of these cards and their records that an undo has written back, where no later run has written the field. */
export async function readPutBack(
  sql: Sql,
  mappingId: string,
  cardIds: readonly string[],
  paths: readonly string[],
): Promise<{ remoteId: string; path: string; side: 'local' | 'remote'; value: SyncValue }[]> {
  const { rows } = await sql.raw(
    `select remote_id as "remoteId", path, side, value from (
       select distinct on (p.remote_id, f.path) p.remote_id, f.path, p.side, p.action, r.trigger,
         p.row -> 'diff' -> f.path -> 'new' as value
       from itsm_plan_rows p join itsm_runs r on r.id = p.run_id and r.mapping_id = ?
       join unnest(?::text[]) f(path) on jsonb_exists(p.row -> 'diff', f.path)
       where p.card_id = any(?::uuid[]) and p.remote_id is not null and p.progress = 'applied'
         and exists (select from itsm_runs u where u.mapping_id = ? and u.trigger = 'undo')
       order by p.remote_id, f.path, r.id desc, p.no desc
     ) last where trigger = 'undo' and action = 'update'`,
    [mappingId, paths, cardIds, mappingId] as never,
  );
  return rows;
}

/** Whether a run has taken, or is taking, this one back. */
export async function isTakenBack(sql: Sql, runId: string): Promise<boolean> {
  const { rows } = await sql.raw(
    `select exists (select from itsm_runs where undo_of = ?
       and status in ('queued', 'running', 'review', 'completed')) as taken`,
    [runId],
  );
  return rows[0].taken;
}

/** Records that runs of a mapping have made, with their cards, by the mark that they were sent with. */
export async function madeUnder(
  sql: Sql,
  mappingId: string,
  marks: readonly string[],
): Promise<Map<string, { of: string; cardId: string }>> {
  const sent = marks.flatMap((mark) => {
    const [, run_id, no] = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(mark) ?? [];
    return run_id === undefined ? [] : [{ mark, run_id, no: Number(no) }];
  });
  if (sent.length === 0) return new Map();
  const { rows } = await sql.raw(
    `select v.mark, p.made_id, p.card_id from json_to_recordset(?::json) as v(mark text, run_id uuid, no integer)
     join itsm_plan_rows p on p.run_id = v.run_id and p.no = v.no and p.made_id is not null
     join itsm_pairs q on q.mapping_id = ? and q.remote_id = p.made_id and q.state in ('linked', 'quarantined')`,
    [JSON.stringify(sent), mappingId],
  );
  return new Map(
    rows.map((row: { mark: string; made_id: string; card_id: string }) => [
      row.mark,
      { of: row.made_id, cardId: row.card_id },
    ]),
  );
}
