import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { readFile, type StoredFile } from '../files/files.store.ts';
import { defineList } from '../lists/lists.define.ts';
import { rankSql } from '../lists/lists.sql.ts';
import type { Condition } from '../lists/lists.types.ts';
import type { TokenScope } from '../permissions/permissions.data.ts';
import { may } from '../permissions/policy.ts';
import { OptionalText } from '../shapes.ts';
import { jobPath, ownRows } from './jobs.enqueue.ts';

const jobStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const self = `'${jobPath('')}' || j.id`;
/** Whether it has a result file that has not expired. */
const file = `exists (select from files f where f.id = j.result_file_id
                and (f.expires_at is null or f.expires_at > now()))`;

/** The visible jobs; newest first by default. */
export const jobList = defineList({
  name: 'jobs',
  filters: {
    kind: OptionalText(500, 'Comma-separated kinds'),
    status: OptionalText(100, 'Comma-separated: queued, running, succeeded, failed, cancelled'),
  },
  from: 'jobs j',
  id: 'j.id',
  sorts: {
    created_at: { sql: 'j.created_at', type: 'timestamptz', immutable: true },
    finished_at: { sql: 'j.finished_at', type: 'timestamptz' },
    kind: { sql: 'j.kind', type: 'text', immutable: true },
    status: { sql: rankSql(jobStatuses, 'j.status'), type: 'bigint', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'j.id',
    kind: 'j.kind',
    status: 'j.status',
    outcome: 'j.outcome',
    progress: 'j.progress',
    message: 'j.message',
    counts: `coalesce(j.counts, '{}')`,
    owner_id: 'j.owner_id',
    created_at: 'utc(j.created_at)',
    started_at: 'utc(j.started_at)',
    finished_at: 'utc(j.finished_at)',
    result: 'j.result',
    error: 'j.error',
    attempt: 'j.attempt',
    links: `json_build_object('self', ${self}, 'result', case when ${file} then ${self} || '/result' end)`,
  },
  visible: visibleJobs,
  where(ctx, params) {
    const conditions: Condition[] = [];
    const kinds = ctx.extensions.jobs.map(({ kind }) => kind);
    oneOf(conditions, 'kind', params.kind, kinds);
    oneOf(conditions, 'status', params.status, jobStatuses);
    return conditions;
  },
});

/** Whether the caller may see the jobs of others. */
export const seesAllJobs = (ctx: Ctx): boolean => may(ctx.caller, 'admin.events');

/**
 * The jobs that are visible to the caller, as a condition on `j`: their own, with a token those within its scopes, or
 * all.
 */
export function visibleJobs(ctx: Ctx): Condition[] {
  if (seesAllJobs(ctx)) return [];
  return [ownRows(ctx.caller, 'j')];
}

function oneOf(
  conditions: Condition[],
  field: string,
  given: string | undefined,
  known: readonly string[],
): void {
  if (given === undefined) return;
  const values = given.split(',').map((value) => value.trim());
  const unknown = values.find((value) => !known.includes(value));
  if (unknown !== undefined) {
    throw invalidField(field, 'unknown_option', `"${unknown}" is none of ${known.join(', ')}`);
  }
  conditions.push(fragment`j.${embed(field)} = any(${values}::text[])`);
}

/** The state of a job, for its owner's event stream. */
interface JobState {
  job_id: string;
  owner_id: string | null;
  /** The scopes within which it runs; null: unlimited. */
  scopes: TokenScope[] | null;
  kind: string;
  status: string;
  outcome: string | null;
  /** 0 to 1. */
  progress: number;
  message: string | null;
  counts: Record<string, number> | null;
}

/** The current state of jobs. */
export async function readJobStates(sql: Sql, ids: string[]): Promise<JobState[]> {
  return await sql('jobs')
    .whereIn('id', ids)
    .select('id as job_id', 'owner_id', 'kind', 'status', 'outcome', 'progress', 'message', 'counts', {
      scopes: sql.raw(`rights -> 'scopes'`),
    });
}

/** Number of jobs by kind and state, finished ones included until they are deleted. */
export async function countJobs(sql: Sql): Promise<{ kind: string; status: string; count: number }[]> {
  return await sql('jobs').select('kind', 'status').count({ count: '*' }).groupBy('kind', 'status');
}

/** Age in seconds of the oldest due job that has not started; 0 if there is none. */
export async function oldestWaitingSeconds(sql: Sql): Promise<number> {
  return await query(sql).value<number>`select coalesce(extract(epoch from now() - min(run_after)),
    0)::double precision as seconds
     from jobs where status = 'queued' and run_after <= now()`;
}

/**
 * The result file of a job.
 * @throws EstateError `not_found` if the job is not visible, `job_result_missing` if it has no file or the file has
 * expired, `forbidden` as {@link readFile}.
 */
export async function resultFile(ctx: Ctx, jobId: string): Promise<StoredFile> {
  const own = ownRows(ctx.caller, 'j');
  const [visible] = visibleJobs(ctx);
  const { rows } = await ctx.db.raw(
    `select j.status, f.id as file_id, (${own.sql}) is true as own
     from jobs j left join files f on f.id = j.result_file_id and (f.expires_at is null or f.expires_at > now())
     where j.id = ?${visible ? ` and ${visible.sql}` : ''}`,
    [...own.bindings, jobId, ...(visible?.bindings ?? [])],
  );
  if (!rows[0]) throw notFound('job', jobId);
  if (!rows[0].file_id) throw missingResult(jobId, rows[0].status);
  return await readFile(ctx, rows[0].file_id, rows[0].own);
}

export function missingResult(jobId: string, status: string): EstateError {
  const why = status === 'succeeded' ? 'it made none, or the file has expired' : `its status is ${status}`;
  return new EstateError('job_result_missing', `There is no file of the job ${jobId}: ${why}.`);
}
