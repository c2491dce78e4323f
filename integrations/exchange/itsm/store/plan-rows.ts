import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { embed, fragment, query, type Sql } from '../../../../platform/database.ts';
import type { AppliedRow, PlanRow, Progress, RowResult, TrackedRow } from '../engine/plan.types.ts';
import { emptyRow } from '../engine/state.ts';

type StoredRow = Pick<PlanRow, 'no' | 'action' | 'side' | 'remoteId' | 'cardId'> & {
  /** The other members that are not empty. */
  row: Partial<PlanRow> & Pick<PlanRow, 'reason'>;
};

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

function storedRow({ no, action, side, remoteId, cardId, ...rest }: PlanRow): StoredRow {
  const row = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  return { no, action, side, remoteId, cardId, row: { ...row, reason: rest.reason } };
}

/** Stores rows of a plan. @param approved whether they are approved right away. */
export async function addPlanRows(
  sql: Sql,
  runId: string,
  rows: readonly PlanRow[],
  approved: boolean,
): Promise<void> {
  if (rows.length === 0) return;
  // json, since jsonb would parse the text of each row twice
  await query(sql)
    .run`insert into itsm_plan_rows (run_id, no, action, side, remote_id, card_id, row, approval)
     select ${runId}::uuid, v.*, ${approved ? 'approved' : null} from json_to_recordset(${JSON.stringify(rows.map(storedRow))}::json)
       as v(no integer, action text, side text, "remoteId" text, "cardId" uuid, row jsonb)`;
}

async function selectRows(
  sql: Sql,
  runId: string,
  condition: ReturnType<typeof fragment>,
): Promise<(TrackedRow & AppliedRow)[]> {
  const rows = await query(sql).rows<
    StoredRow & Omit<TrackedRow & AppliedRow, 'row'>
  >`select no, action, side, remote_id as "remoteId", card_id as "cardId",
       row, progress, approval, made_id as "createdId"
     from itsm_plan_rows where run_id = ${runId} and ${embed(condition)}`;
  return rows.map(({ row, no, action, side, remoteId, cardId, ...tracked }) => ({
    ...tracked,
    row: { ...emptyRow, ...row, no, action, side, remoteId, cardId },
  }));
}

/** Rows of a plan in their order, after the given number. */
export const readRows = (sql: Sql, runId: string, after: number, limit: number) =>
  selectRows(sql, runId, fragment`no > ${after} order by no limit ${limit}`);

/** Rows whose writes were sent without a response so far. */
export const readStartedRows = (sql: Sql, runId: string) =>
  selectRows(sql, runId, fragment`progress = 'started' order by no`);

/** Applied rows from the end of the plan, before the given number. */
export const readAppliedBackwards = (sql: Sql, runId: string, before: number, limit: number) =>
  selectRows(sql, runId, fragment`progress = 'applied' and no < ${before} order by no desc limit ${limit}`);

/** Rows that were applied at the remote, except relations, in their order after the given number. */
export const readAppliedAtRemote = (sql: Sql, runId: string, after: number, limit: number) =>
  selectRows(
    sql,
    runId,
    fragment`no > ${after} and side = 'remote' and progress = 'applied' and action not in ('relate', 'unrelate')
       order by no limit ${limit}`,
  );

/** Marks rows whose writes are about to be sent. */
export async function markStarted(sql: Sql, runId: string, rows: readonly PlanRow[]): Promise<void> {
  const nos = rows.map(({ no }) => no);
  const data = { progress: 'started' };
  await sql('itsm_plan_rows').where({ run_id: runId, progress: 'pending' }).whereIn('no', nos).update(data);
}

/** Stores how rows ended; each ends once. */
export async function markEnded(sql: Sql, runId: string, endings: readonly RowResult[]): Promise<void> {
  if (endings.length === 0) return;
  const ends = endings.map(({ row: { no }, outcome: { progress, message, createdId = null } }) => ({
    no,
    progress,
    message,
    createdId,
  }));
  await query(sql)
    .run`update itsm_plan_rows p set progress = v.progress, message = v.message, made_id = v."createdId",
       ended_at = clock_timestamp()
     from json_to_recordset(${JSON.stringify(ends)}::json) as v(no integer, progress text, message text, "createdId" text)
     where p.run_id = ${runId} and p.no = v.no and p.progress in ('pending', 'started')`;
}

/** Ends the rows that write nothing. */
export async function endInformativeRows(sql: Sql, runId: string): Promise<void> {
  await query(sql).run`update itsm_plan_rows set progress = 'skipped', ended_at = now()
     where run_id = ${runId} and progress = 'pending' and action in ('conflict', 'stage', 'skip')`;
}

/** Whether a pending row copies values from a record to the inventory. */
export async function hasCopyingRows(sql: Sql, runId: string): Promise<boolean> {
  return await query(sql)
    .value`select exists (select from itsm_plan_rows where run_id = ${runId} and progress = 'pending' and remote_id is not null
       and (action = 'link' or (side = 'local' and action in ('create', 'update')))) as found`;
}

/** Approves all rows of a plan, or leaves all undecided. */
export async function approvePlan(sql: Sql, runId: string, approved: boolean): Promise<void> {
  await sql('itsm_plan_rows')
    .where({ run_id: runId })
    .update({ approval: approved ? 'approved' : null });
}

/** Deletes a plan that was not completed. */
export async function deletePlan(sql: Sql, runId: string): Promise<void> {
  await sql('itsm_plan_rows').where({ run_id: runId }).delete();
}

/** The number of rows of a plan by action. */
export async function countPlan(sql: Sql, runId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { action, n } of await countOutcomes(sql, runId)) counts[action] = (counts[action] ?? 0) + n;
  return counts;
}

/** The number of applied rows of a run. */
export async function countApplied(sql: Sql, runId: string): Promise<number> {
  return await query(sql)
    .value`select count(*) as count from itsm_plan_rows where run_id = ${runId} and progress = 'applied'`;
}

export interface OutcomeCount {
  action: string;
  progress: Progress;
  approval: 'approved' | 'rejected' | null;
  /** They can still be approved. */
  isUndecided: boolean;
  /** They change a side, not only what is stored about both. */
  isWrite: boolean;
  n: number;
}

/** The number of rows of a plan by action, progress and approval. */
export async function countOutcomes(sql: Sql, runId: string): Promise<OutcomeCount[]> {
  return await query(sql)
    .rows`select action, progress, approval, progress = 'pending' and approval is distinct from 'rejected'
       and action not in ('conflict', 'stage', 'skip') as "isUndecided", side is not null as "isWrite", count(*)::int as n
     from itsm_plan_rows where run_id = ${runId} group by action, progress, approval, side is not null`;
}

/** Records of the rows of a plan; null if there are more than `limit`. */
export async function findPlannedRecords(sql: Sql, runId: string, limit: number): Promise<string[] | null> {
  const ids = await sql('itsm_plan_rows')
    .where({ run_id: runId })
    .whereNotNull('remote_id')
    .distinct()
    .limit(limit + 1)
    .pluck('remote_id');
  return ids.length > limit ? null : ids;
}

/** Records of rows that were not applied. The next run reads them again. */
export async function findUnappliedRecords(sql: Sql, runId: string): Promise<string[]> {
  return await query(sql)
    .column<string>`select distinct remote_id from itsm_plan_rows where run_id = ${runId} and remote_id is not null
       and (progress in ('stale', 'refused') or approval = 'rejected' or (progress = 'pending' and action not in ('conflict', 'stage', 'skip')))`;
}

/** Ended runs of a mapping with writes whose outcome is unknown, oldest first. */
export async function findRunsWithUnknownWrites(sql: Sql, mappingId: string): Promise<string[]> {
  return await query(sql)
    .column<string>`select r.id from itsm_runs r where r.mapping_id = ${mappingId} and r.status in ('failed', 'cancelled', 'superseded')
       and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'started') order by r.id`;
}

/** Values of these cards and their records that an undo has restored, unless a later run has written the field. */
export async function readRestoredValues(
  sql: Sql,
  mappingId: string,
  cardIds: readonly string[],
  paths: readonly string[],
): Promise<{ remoteId: string; path: string; side: 'local' | 'remote'; value: Value }[]> {
  return await query(sql).rows`select remote_id as "remoteId", path, side, value from (
       select distinct on (p.remote_id, f.path) p.remote_id, f.path, p.side, p.action, r.trigger,
         p.row -> 'diff' -> f.path -> 'new' as value
       from itsm_plan_rows p join itsm_runs r on r.id = p.run_id and r.mapping_id = ${mappingId}
       join unnest(${paths}::text[]) f(path) on jsonb_exists(p.row -> 'diff', f.path)
       where p.card_id = any(${cardIds}::uuid[]) and p.remote_id is not null and p.progress = 'applied'
         and exists (select from itsm_runs u where u.mapping_id = ${mappingId} and u.trigger = 'undo')
       order by p.remote_id, f.path, r.id desc, p.no desc
     ) last where trigger = 'undo' and action = 'update'`;
}

/** Records that runs of a mapping have created, with their cards, by correlation id. */
export async function findByCorrelationIds(
  sql: Sql,
  mappingId: string,
  correlationIds: readonly string[],
): Promise<Map<string, { of: string; cardId: string }>> {
  const sent = correlationIds.flatMap((id) => {
    const [, run_id, no] = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(id) ?? [];
    return run_id === undefined ? [] : [{ id, run_id, no: Number(no) }];
  });
  if (sent.length === 0) return new Map();
  const rows = await query(sql).rows`select v.id, p.made_id as of, p.card_id as "cardId"
     from json_to_recordset(${JSON.stringify(sent)}::json) as v(id text, run_id uuid, no integer)
     join itsm_plan_rows p on p.run_id = v.run_id and p.no = v.no and p.made_id is not null
     join itsm_pairs q on q.mapping_id = ${mappingId} and q.remote_id = p.made_id and q.state in ('linked', 'quarantined')`;
  return new Map(rows.map(({ id, ...created }: { id: string; of: string; cardId: string }) => [id, created]));
}

/** Stores the content of records that these rows are about to delete. */
export async function storeDeletedContent(
  sql: Sql,
  runId: string,
  rows: readonly { no: number; removed: object }[],
): Promise<void> {
  if (rows.length === 0) return;
  await query(sql)
    .run`update itsm_plan_rows p set removed = v.removed from json_to_recordset(${JSON.stringify(rows)}::json) as v(no integer, removed jsonb)
     where p.run_id = ${runId} and p.no = v.no`;
}

/** The content of a record that a row has deleted; null if none was stored. */
export async function readDeletedContent<T>(sql: Sql, runId: string, no: number): Promise<T | null> {
  const row = await sql('itsm_plan_rows').where({ run_id: runId, no }).first('removed');
  return row?.removed ?? null;
}

/** The record that a run has created for a deleted one, or whether it is still going to create it. */
export async function findRecreated(
  sql: Sql,
  runId: string,
  remoteId: string,
): Promise<{ id: string | null; isPending: boolean }> {
  const rows = await query(sql)
    .rows`select made_id as id, progress in ('pending', 'started') as "isPending" from itsm_plan_rows
     where run_id = ${runId} and action = 'create' and row -> 'restored' ->> 'remoteId' = ${remoteId}`;
  return rows[0] ?? { id: null, isPending: false };
}
