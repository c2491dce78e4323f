import { inTransaction } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyAtomically } from './imports.apply-atomic.ts';
import { applyBatches } from './imports.apply-batches.ts';
import { planCards } from './imports.cards.plan.ts';
import { finishImport } from './imports.finish.ts';
import type { ImportPayload } from './imports.job.ts';
import type { Planning } from './imports.planning.ts';
import { readFile } from './imports.read.ts';
import { planRelations } from './imports.relations.plan.ts';
import { requireImportRights } from './imports.rights.ts';
import { countRows, removeStaged } from './imports.staging.ts';
import { type ImportProgress, shares } from './imports.types.ts';

/**
 * Carries out an import in stages, each of which goes on from where it was: the file is read into staging tables,
 * planned as a whole, applied in batches, and reported on.
 * @param tuning rows that are read at once, and that are written. Few are read: they are dead before the collector of
 * garbage takes them for old ones, so that the heap of a long import grows by no more than that of a short one.
 */
export async function runImport(
  job: RunningJob<ImportPayload>,
  services: Services,
  tuning = { readRows: 250, batchRows: 1_000 },
): Promise<JobResult> {
  requireImportRights(job.ctx, job.payload);
  const { readRows, batchRows } = tuning;
  let progress = await whereItWas(job, services);
  announce(job, job.counts);
  if (progress.stage === 'read') progress = await readFile(job, services, progress, readRows);
  if (progress.stage === 'plan') progress = await plan(job, services, batchRows);
  let result: JobResult | undefined;
  if (progress.stage === 'apply') {
    if (job.payload.atomic && !job.payload.dry_run) result = await applyAtomically(job, services, progress);
    else await applyBatches(job, services, progress);
  }
  result ??= await finishImport(job, services);
  await removeStaged(services.db, job.id).catch((error) => {
    job.ctx.log.warn({ err: error }, 'what the import kept will be removed later');
  });
  return result;
}

/** @throws EstateError `wrong_state` when what earlier runs have read is no longer kept. */
async function whereItWas(job: RunningJob<ImportPayload>, { db }: Services): Promise<ImportProgress> {
  if (job.resume === null) return { stage: 'read', line: 0 };
  if (job.counts.total! > 0 && (await countRows(db, job.id, job.payload.kind)) === 0) {
    throw new EstateError('wrong_state', 'What the import had read is no longer kept: start a new one.');
  }
  return job.resume as ImportProgress;
}

/** The batch of the import's writes shows how many rows its file has. */
function announce({ ctx }: RunningJob<ImportPayload>, { total = 0 }: JobCounts): void {
  ctx.batch.rowCount = total;
}

async function plan(
  job: RunningJob<ImportPayload>,
  { db }: Services,
  batchRows: number,
): Promise<ImportProgress> {
  job.progress(shares.read, 'Planning');
  return await inTransaction(db, async (sql) => {
    const planning: Planning = {
      sql,
      ctx: job.ctx,
      jobId: job.id,
      mode: job.payload.mode,
      batchRows,
      pulse: () => job.signal.throwIfAborted(),
    };
    const planned = await (job.payload.kind === 'cards' ? planCards(planning) : planRelations(planning));
    const next: ImportProgress = { stage: 'apply', batch: 0, batches: planned.batches };
    announce(job, { total: planned.rows + planned.failed });
    await job.checkpoint(
      { sql },
      {
        progress: shares.read + shares.plan,
        message: `Importing ${planned.rows} rows`,
        counts: {
          total: planned.rows + planned.failed,
          created: 0,
          updated: 0,
          unchanged: 0,
          failed: planned.failed,
        },
        checkpoint: next,
      },
    );
    return next;
  });
}
