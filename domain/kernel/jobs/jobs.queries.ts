import { invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { may } from '../permissions/policy.ts';
import { jobPath, ownRows } from './jobs.enqueue.ts';

const jobStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

const self = `'${jobPath('')}' || j.id`;
/** Whether there is a file to download: it exists and has not expired. */
const file = `exists (select from files f where f.id = j.result_file_id
                and (f.expires_at is null or f.expires_at > now()))`;

const jobList: ListSpec = {
  name: 'jobs',
  from: 'jobs j',
  id: 'j.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 'j.created_at', type: 'timestamptz', immutable: true },
    finished_at: { sql: 'j.finished_at', type: 'timestamptz' },
    kind: { sql: 'j.kind', type: 'text', immutable: true },
    status: { sql: 'j.status', type: 'text' },
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
};

/** Whether the caller sees the jobs of others. */
export function seesAllJobs(ctx: Ctx): boolean {
  return may(ctx.caller, 'admin.events');
}

/** The jobs that the caller may see, as a condition on `j`: the own ones, of a token those within its scopes, or all. */
export function visibleJobs(ctx: Ctx): Condition[] {
  if (seesAllJobs(ctx)) return [];
  return [ownRows(ctx.caller, 'j')];
}

/** The caller's jobs, or all of them for who may see them; newest first unless asked otherwise. */
export async function listJobs(
  ctx: Ctx,
  params: ListParams & { kind?: string; status?: string },
): Promise<JsonText> {
  const conditions = visibleJobs(ctx);
  oneOf(
    conditions,
    'kind',
    params.kind,
    ctx.extensions.jobs.map(({ kind }) => kind),
  );
  oneOf(conditions, 'status', params.status, jobStatuses);
  return await runList(ctx.db, jobList, conditions, params, { owner: ctx.caller.userId });
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
  conditions.push({ sql: `j.${field} = any(?::text[])`, bindings: [values] });
}

/** One job as JSON. @throws EstateError `not_found`, also for a job of another that the caller may not see. */
export async function readJob(ctx: Ctx, id: string): Promise<JsonText> {
  const members = Object.entries(jobList.members).map(([name, sql]) => `'${name}', ${sql}`);
  const [visible] = visibleJobs(ctx);
  const { rows } = await ctx.db.raw(
    `select json_build_object(${members.join(', ')})::text as job from jobs j
     where j.id = ?${visible ? ` and ${visible.sql}` : ''}`,
    [id, ...(visible?.bindings ?? [])],
  );
  if (!rows[0]) throw notFound('job', id);
  return rows[0].job;
}
