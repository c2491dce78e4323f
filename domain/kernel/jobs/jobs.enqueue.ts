import type { Static, TSchema } from 'typebox';
import { query } from '../../../platform/database.ts';
import { command } from '../command.ts';
import type { Caller, Ctx } from '../context.ts';
import type { EventDraft } from '../events/row-changes.ts';
import type { Condition } from '../lists/lists.types.ts';
import type { AppPermission, TokenScope } from '../permissions/permissions.data.ts';
import { checkPayload, type JobDefinition } from './jobs.define.ts';
import type { JobTransaction } from './jobs.running.ts';

/** The owner's rights when the job was enqueued. */
export interface JobRights {
  permissions: AppPermission[] | '*';
  /** The scopes of the API token that enqueued it; absent: unlimited. */
  scopes?: TokenScope[];
  /** The role that the owner impersonated. */
  impersonated_role?: string;
}

/** The response to a request that started a job. */
export interface StartedJob {
  job_id: string;
  status: 'queued';
  links: { self: string };
}

/** Notifies the relays, which hand committed jobs to the queue. */
export const JOBS_CHANNEL = 'estate_jobs';

/** The URL path of a job. */
export const jobPath = (id: string): string => `/api/v1/jobs/${id}`;

/** The caller's current rights, stored with objects that act for the caller later. */
export function rightsOf({ permissions, scopes, impersonatedRole }: Caller): JobRights {
  return {
    permissions: permissions === '*' ? '*' : [...permissions],
    ...(scopes ? { scopes: [...scopes] } : {}),
    ...(impersonatedRole ? { impersonated_role: impersonatedRole } : {}),
  };
}

/**
 * The caller's own rows of a table with `owner_id` and `rights`, as a condition over its alias. A token with scopes
 * only gets rows that run within these scopes.
 */
export function ownRows({ userId, scopes }: Caller, alias: string): Condition {
  const owned = `${alias}.owner_id = ?`;
  if (scopes === undefined) return { sql: owned, bindings: [userId], visibility: true };
  const sql = `${owned} and ${alias}.rights -> 'scopes' <@ ?::jsonb`;
  return { sql, bindings: [userId, JSON.stringify([...scopes])], visibility: true };
}

/**
 * Enqueues a job in the caller's transaction: it runs if and only if that commits. The caller of `ctx` owns it, and it
 * runs at most with the caller's current rights.
 */
export async function enqueueJob<P extends TSchema>(
  ctx: Ctx,
  work: JobTransaction,
  definition: JobDefinition<P>,
  payload: Static<P>,
): Promise<StartedJob> {
  checkPayload(definition, payload);
  const rows = await query(work.sql).rows`with job as (
       insert into jobs (kind, queue, payload, owner_id, rights, request_id)
       values (${definition.kind}, ${definition.queue}, ${JSON.stringify(payload)}, ${ctx.caller.userId},
       ${JSON.stringify(rightsOf(ctx.caller))}, ${ctx.requestId}) returning id
     ) select id, pg_notify(${JOBS_CHANNEL}, '') from job`;
  const id: string = rows[0].id;
  return { job_id: id, status: 'queued', links: { self: jobPath(id) } };
}

/** Starts a job in its own command. @param eventOf the event of the start, given the id of the job. */
export async function startJob<P extends TSchema>(
  ctx: Ctx,
  definition: JobDefinition<P>,
  payload: Static<P>,
  eventOf: (jobId: string) => EventDraft,
): Promise<StartedJob> {
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, definition, payload);
    work.emit(eventOf(job.job_id));
    return job;
  });
}
