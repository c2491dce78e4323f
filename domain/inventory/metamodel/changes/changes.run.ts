import { LOCK_NOT_AVAILABLE, sqlState } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { command } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../../kernel/jobs/jobs.enqueue.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';
import { carryOut, type MetamodelChange } from './changes.dispatch.ts';
import { type ChangeRun, LargeChange } from './changes.types.ts';
import { metamodelChangeJob } from './metamodel-change.job.ts';

/** The most cards and relations that a request writes itself; a second or so. */
export const REQUEST_LIMIT = 2_000;

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
    deferred: null,
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
    if (sqlState(error) === LOCK_NOT_AVAILABLE) throw metamodelBusy(error);
    if (!(error instanceof LargeChange)) throw error;
    const payload = { ...change, force, language, expected: seen };
    return { job: await command(ctx, (work) => enqueueJob(ctx, work, metamodelChangeJob, payload)) };
  }
}

/** The refusal of a change beside which a long write is under way. */
export function metamodelBusy(cause: unknown): EstateError {
  return new EstateError(
    'metamodel_busy',
    'A long write, such as an import as a whole, is under way; try again when it has ended.',
    { headers: { 'retry-after': '10' }, cause },
  );
}
