import { EstateError } from '../../../platform/errors.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyAtomically } from './imports.apply-atomic.ts';
import { applyBatches } from './imports.apply-batches.ts';
import { finishImport } from './imports.finish.ts';
import type { ImportPayload } from './imports.job.ts';
import { planImport } from './imports.plan.ts';
import { readFile } from './imports.read.ts';
import { requireImportRights } from './imports.rights.ts';
import { countRows, removeStaged } from './imports.staging.ts';
import { type ImportProgress, shares } from './imports.types.ts';

/**
 * Executes an import in stages, each of which can resume: the file is read into staging tables, planned as a whole,
 * written in batches, and its report is stored.
 * @param tuning maximum rows of one read and of one batch. Few rows are read at once, so that they are garbage before they
 * are promoted to the old space, and the heap does not grow with the file.
 */
export async function runImport(
  job: RunningJob<ImportPayload>,
  services: Services,
  tuning = { readRows: 250, batchRows: 1_000 },
): Promise<JobResult> {
  requireImportRights(job.ctx, job.payload);
  const { readRows, batchRows } = tuning;
  let progress = await resumeFrom(job, services);
  job.ctx.batch.rowCount = job.counts.total ?? 0;
  if (progress.stage === 'read') progress = await readFile(job, services, progress, readRows);
  if (progress.stage === 'plan') progress = await plan(job, services, batchRows);
  let result: JobResult | undefined;
  if (progress.stage === 'apply') {
    if (job.payload.atomic && !job.payload.dry_run) result = await applyAtomically(job, services, progress);
    else await applyBatches(job, services, progress);
  }
  result ??= await finishImport(job, services);
  await removeStaged(services.db, job.id).catch((error) => {
    job.ctx.log.warn({ err: error }, 'the staged rows of an import will be removed later');
  });
  return result;
}

/** The stage to continue with. @throws EstateError `wrong_state` if the rows that earlier runs have read were cleaned up. */
async function resumeFrom(job: RunningJob<ImportPayload>, { db }: Services): Promise<ImportProgress> {
  if (job.resume === null) return { stage: 'read', line: 0 };
  if (job.counts.total! > 0 && (await countRows(db, job.id, job.payload.kind)) === 0) {
    throw new EstateError(
      'wrong_state',
      'The rows that the import had read were cleaned up: start a new import.',
    );
  }
  return job.resume as ImportProgress;
}

async function plan(
  job: RunningJob<ImportPayload>,
  { db }: Services,
  batchRows: number,
): Promise<ImportProgress> {
  job.progress(shares.read, 'Planning');
  const next = (batches: number): ImportProgress => ({ stage: 'apply', batch: 0, batches });
  const planned = await planImport(
    job,
    db,
    { ...job.payload, batchRows },
    (sql, { batches, rows, failed }) => {
      const counts = { total: rows + failed, created: 0, updated: 0, unchanged: 0, failed };
      const message = `Importing ${rows} rows`;
      return job.checkpoint(
        { sql },
        { progress: shares.read + shares.plan, message, counts, checkpoint: next(batches) },
      );
    },
  );
  job.ctx.batch.rowCount = planned.rows + planned.failed;
  return next(planned.batches);
}
