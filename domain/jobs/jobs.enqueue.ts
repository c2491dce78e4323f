import type { Static, TSchema } from 'typebox';
import type { AppPermission } from '../access/permissions.data.ts';
import type { Caller, Ctx } from '../context.ts';
import { checkPayload, type JobDefinition } from './jobs.define.ts';
import type { JobTransaction } from './jobs.running.ts';

/** What the owner was permitted when the job was asked for. */
export interface JobRights {
  permissions: AppPermission[] | '*';
  /** The role as which the owner looked at the service. */
  impersonated_role?: string;
}

/** The answer to a request that started work. */
export interface StartedJob {
  job_id: string;
  status: 'queued';
  links: { self: string };
}

/** Wakes the relays, which hand committed rows over to the queue. */
export const JOBS_CHANNEL = 'estate_jobs';

/** Where a job is read. */
export function jobPath(id: string): string {
  return `/api/v1/jobs/${id}`;
}

/** The caller's present rights, to be kept with what acts for the caller later. */
export function rightsOf({ permissions, impersonatedRole }: Caller): JobRights {
  return {
    permissions: permissions === '*' ? '*' : [...permissions],
    ...(impersonatedRole ? { impersonated_role: impersonatedRole } : {}),
  };
}

/**
 * Asks for a job in the caller's transaction: it runs when, and only when, that commits. The caller of `ctx` owns
 * it, and it runs with no more than the caller's present rights.
 */
export async function enqueueJob<P extends TSchema>(
  ctx: Ctx,
  work: JobTransaction,
  definition: JobDefinition<P>,
  payload: Static<P>,
): Promise<StartedJob> {
  checkPayload(definition, payload);
  const { rows } = await work.sql.raw(
    `with job as (
       insert into jobs (kind, queue, payload, owner_id, rights, request_id) values (?, ?, ?, ?, ?, ?) returning id
     ) select id, pg_notify(?, '') from job`,
    [
      definition.kind,
      definition.queue,
      JSON.stringify(payload),
      ctx.caller.userId as never,
      JSON.stringify(rightsOf(ctx.caller)),
      ctx.requestId,
      JOBS_CHANNEL,
    ],
  );
  const id: string = rows[0].id;
  return { job_id: id, status: 'queued', links: { self: jobPath(id) } };
}
