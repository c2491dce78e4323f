import { setTimeout as delay } from 'node:timers/promises';
import { sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { requirePermission } from '../../access/policy.ts';
import { command, type Work } from '../../command.ts';
import type { Ctx } from '../../context.ts';
import { enqueueJob, type StartedJob } from '../../jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../jobs/jobs.running.ts';
import { type MetamodelChangePayload, metamodelChangeJob } from '../../jobs/kinds/metamodel-change.ts';
import type { JsonText } from '../../lists/lists.types.ts';
import { type ChangeOperation, carryOut, type MetamodelChange } from './changes.dispatch.ts';
import { type ChangeRun, LargeChange } from './changes.types.ts';

/** The most cards and relations that a request writes itself; a second or so. */
export const REQUEST_LIMIT = 2_000;

const LOCK_NOT_AVAILABLE = '55P03';
const PAUSE_MS = 1_000;

export interface ChangeOptions {
  language: string;
  dryRun?: boolean;
  force?: boolean;
  limit?: number;
}

/** What a change came to: the answer of one that is done, or the job that does it. */
export type ChangeOutcome = { text: JsonText; job?: undefined } | { text?: undefined; job: StartedJob };

/** A run of a change within a command. */
export function openRun(work: Work, ctx: Ctx, more: Partial<ChangeRun> & { language: string }): ChangeRun {
  return {
    work,
    ctx,
    limit: Number.POSITIVE_INFINITY,
    dryRun: false,
    force: false,
    expected: null,
    seen: null,
    held: null,
    progress: () => undefined,
    ...more,
  };
}

/**
 * Changes the metamodel together with all that is stored under it, in one transaction beside which nobody writes. A
 * change that writes many cards or relations is left to a job. A dry run answers with the impact and writes nothing.
 * @throws EstateError of the operation; `metamodel_busy` while a long write is under way.
 */
export async function changeMetamodel(
  ctx: Ctx,
  change: MetamodelChange,
  options: ChangeOptions,
): Promise<ChangeOutcome> {
  requirePermission(ctx.caller, 'admin.metamodel');
  const { language, dryRun = false, force = false, limit = REQUEST_LIMIT } = options;
  let seen: string | null = null;
  try {
    const text = await command(
      ctx,
      async (work) => {
        const run = openRun(work, ctx, { language, dryRun, force, limit });
        try {
          return await carryOut(run, change);
        } finally {
          seen = run.seen;
        }
      },
      { dryRun, changesMetamodel: !dryRun },
    );
    return { text };
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) throw busy(error);
    if (!(error instanceof LargeChange)) throw error;
    const payload = { ...change, force, language, expected: seen };
    return { job: await command(ctx, (work) => enqueueJob(ctx, work, metamodelChangeJob, payload)) };
  }
}

function busy(cause: unknown): EstateError {
  return new EstateError(
    'metamodel_busy',
    'A long write, such as an import as a whole, is under way; try again when it has ended.',
    { headers: { 'retry-after': '10' }, cause },
  );
}

/**
 * Carries out a change as a job. All of it is one transaction with the job's end: done once or not at all, however
 * often a worker dies. Waits for long writes.
 */
export async function runMetamodelChange(job: RunningJob<MetamodelChangePayload>): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  requirePermission(ctx.caller, 'admin.metamodel');
  const { operation, key, role, body, force, language, expected } = payload;
  const change = { operation: operation as ChangeOperation, key, role, body };
  for (;;) {
    try {
      return await command(
        ctx,
        async (work) => {
          await job.hold(work);
          let rows = 0;
          const progress = (done: number, total: number) => {
            signal.throwIfAborted();
            rows = done;
            job.progress(done / total, `${done} of ${total} cards and relations`);
          };
          await carryOut(openRun(work, ctx, { language, force, expected, progress }), change);
          const result: JobResult = {
            result: { operation, key, ...(role ? { role } : {}) },
            counts: { total: rows },
          };
          await job.finish(work, result);
          return result;
        },
        { changesMetamodel: true },
      );
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      job.progress(0, 'Waiting for a long write');
      await delay(PAUSE_MS);
      signal.throwIfAborted();
    }
  }
}
