import type { Knex } from 'knex';
import type { BlobStore } from '../../../platform/blobs.ts';
import { type Db, embed, inTransaction, query } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import { openContent, recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { nothingWritten, outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyBatch, applyBatches, isClash } from './imports.apply-batches.ts';
import {
  countRows,
  createStager,
  planTable,
  RESUME_DAYS,
  removeStaged,
  storeOutcomes,
  storeRows,
} from './imports.cards.stage.ts';
import { type ImportPayload, importJob } from './imports.job.ts';
import { planImport } from './imports.plan.ts';
import { countOutcomes, storeReport } from './imports.report.ts';
import { requireImportRights } from './imports.rights.ts';
import { readSource } from './imports.source.ts';
import { BatchConflict, type ImportProgress, type RowOutcome, shares } from './imports.types.ts';

export type ImportOptions = Omit<ImportPayload, 'file_id'>;

const DAY_MS = 86_400_000;
/** The file of a successful job is deleted at its end; this is for jobs that were abandoned. */
const UPLOAD_DAYS = 90 + RESUME_DAYS;
const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/**
 * Checks the header of an uploaded file and starts a job that imports it.
 * @throws EstateError `forbidden`, `validation_failed` naming each invalid column.
 */
export async function startImport(
  ctx: Ctx,
  blobs: BlobStore,
  content: StoredContent,
  options: ImportOptions,
): Promise<StartedJob> {
  requireImportRights(ctx, options);
  await checkHead(ctx, blobs, content, options);
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      name: `import.${options.format}`,
      mediaType: mediaTypes[options.format],
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + UPLOAD_DAYS * DAY_MS),
    });
    const job = await enqueueJob(ctx, work, importJob, { ...options, file_id: content.id });
    work.emit({
      event_type: 'import.started',
      data: { ...options, import_job_id: job.job_id, size: content.size, sha256: content.sha256 },
    });
    return job;
  });
}

/** Reads as much of the file as its first row needs. */
async function checkHead(
  ctx: Ctx,
  blobs: BlobStore,
  content: StoredContent,
  options: ImportOptions,
): Promise<void> {
  const stream = await openContent(blobs, content.id);
  try {
    await readSource(stream, ctx.metamodel, options.kind, options, 1).next();
  } finally {
    stream.destroy();
  }
}

/** Writes the report of an import whose rows are done, and ends the job. */
async function finishImport(job: RunningJob<ImportPayload>, services: Services): Promise<JobResult> {
  if (job.payload.atomic) await skipOthers(services.db, job);
  return await inTransaction(services.db, (sql) => endWithReport(sql, job, services));
}

/** If a row of an atomic import has failed, all other rows are skipped. */
async function skipOthers(db: Db, { id, payload }: RunningJob<ImportPayload>): Promise<void> {
  await inTransaction(db, async (sql) => {
    const failed = await sql('import_outcomes').where({ job_id: id, outcome: 'failed' }).first('line');
    if (!failed) return;
    await query(sql).run`update import_outcomes set outcome = 'skipped'
      where job_id = ${id} and outcome <> 'failed'`;
    await query(sql).run`insert into import_outcomes (job_id, line, outcome)
       select job_id, line, 'skipped' from ${embed(planTable[payload.kind])} where job_id = ${id}
       on conflict do nothing`;
  });
}

/** Stores the report as the job's result, in the transaction that ends the job. */
async function endWithReport(
  sql: Knex.Transaction,
  job: RunningJob<ImportPayload>,
  { blobs }: Services,
): Promise<JobResult> {
  const { payload, ctx } = job;
  const content = await storeReport(sql, blobs, {
    jobId: job.id,
    kind: payload.kind,
    all: payload.report === 'all',
  });
  const counts = await countOutcomes(sql, job.id);
  const moment = new Date();
  const file = await recordFile(sql, content, {
    name: `import-report-${moment.toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
    mediaType: 'application/x-ndjson',
    ownerId: ctx.caller.userId,
    // Errors contain no values.
    withCosts: false,
    needs: [],
    // Deleted with its job.
    expiresAt: null,
  });
  const error = payload.atomic && counts.failed! > 0 ? nothingWritten(counts) : undefined;
  const failed = outcomeOf({ counts, ...(error ? { error } : {}) }).status === 'failed';
  // A failed import can be retried.
  if (!failed) await sql('files').where({ id: payload.file_id }).update({ expires_at: moment });
  const result: JobResult = {
    fileId: file.id,
    message: messageOf(payload, counts),
    counts,
    ...(error ? { error } : {}),
    result: {
      kind: payload.kind,
      mode: payload.mode,
      dry_run: payload.dry_run,
      atomic: payload.atomic,
      written: !payload.dry_run && !failed,
      report: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  };
  await job.finish({ sql }, result);
  return result;
}

function messageOf({ dry_run, atomic }: ImportPayload, counts: JobCounts): string {
  const { created, updated, unchanged, failed } = counts;
  if (atomic && failed! > 0) return nothingWritten(counts).message;
  const text = `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  return dry_run ? `Dry run: ${text}` : text;
}

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

const MAX_ATTEMPTS = 5;

/** A row of an atomic import has failed after planning; everything is rolled back. */
class AtomicRefusal extends Error {
  readonly outcomes: RowOutcome[];
  constructor(outcomes: RowOutcome[]) {
    super('a row of an atomic import has failed');
    this.outcomes = outcomes;
  }
}

/**
 * Applies the complete plan, the report and the end of the job in one transaction: all rows or none, even if the worker
 * crashes. Does nothing if a row has failed already.
 * @returns undefined if nothing was written.
 */
async function applyAtomically(
  job: RunningJob<ImportPayload>,
  services: Services,
  { batches }: Extract<ImportProgress, { stage: 'apply' }>,
): Promise<JobResult | undefined> {
  const { db } = services;
  const failed = await db('import_outcomes').where({ job_id: job.id, outcome: 'failed' }).first('line');
  if (failed) return undefined;
  try {
    return await attempt(job, services, batches);
  } catch (error) {
    if (!(error instanceof AtomicRefusal)) throw error;
    await inTransaction(db, async (sql) => {
      await storeOutcomes(sql, job.id, error.outcomes);
      await job.checkpoint({ sql }, { checkpoint: { stage: 'report' } satisfies ImportProgress });
    });
    return undefined;
  }
}

async function attempt(
  job: RunningJob<ImportPayload>,
  services: Services,
  batches: number,
): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  let searchTaken = false;
  for (let count = 1; ; count += 1) {
    try {
      return await command(ctx, async (work) => {
        await job.hold(work);
        const events = await bufferEvents(work, ctx);
        const failed: RowOutcome[] = [];
        for (let batch = 0; batch < batches; batch += 1) {
          signal.throwIfAborted();
          const applying = {
            work: events.work,
            ctx,
            jobId: job.id,
            dryRun: false,
            known: new Map<number, FieldError>(),
            searchTaken,
          };
          const outcomes = await applyBatch(payload.kind, applying, batch);
          failed.push(...outcomes.filter(({ outcome }) => outcome === 'failed'));
          await storeOutcomes(work.sql, job.id, outcomes);
          await events.flush();
          job.progress(
            shares.read + shares.plan + ((batch + 1) / batches) * shares.apply,
            'Importing at once',
          );
        }
        if (failed.length > 0) throw new AtomicRefusal(failed);
        const result = await endWithReport(work.sql, job, services);
        await events.record();
        return result;
      });
    } catch (error) {
      if (error instanceof BatchConflict) {
        throw new AtomicRefusal(
          [...error.faults].map(([line, fault]) => ({ line, outcome: 'failed', errors: [fault] })),
        );
      }
      if (!isClash(error) || count === MAX_ATTEMPTS) throw error;
      searchTaken = true;
    }
  }
}

/** Reads the uploaded file into the staging table; rows that an earlier run has stored are skipped. */
async function readFile(
  job: RunningJob<ImportPayload>,
  { db, blobs }: Services,
  from: { line: number },
  readRows: number,
): Promise<ImportProgress> {
  const { payload, ctx, signal } = job;
  const file = await db('files').where({ id: payload.file_id }).first('size');
  const content = await openContent(blobs, payload.file_id);
  let bytes = 0;
  async function* metered() {
    for await (const chunk of content) {
      bytes += chunk.length;
      yield chunk as Buffer;
    }
  }
  const stage = await createStager(ctx, db, payload.kind);
  let total = job.counts.total ?? 0;
  let pending: Promise<void> = Promise.resolve();
  for await (const rows of readSource(metered(), ctx.metamodel, payload.kind, payload, readRows)) {
    signal.throwIfAborted();
    const fresh = rows.filter(({ line }) => line > from.line);
    if (fresh.length === 0) continue;
    const staged = await stage(db, fresh);
    total += fresh.length;
    const step = {
      progress: Math.min(1, bytes / Math.max(1, Number(file?.size))) * shares.read,
      message: `Reading: ${total} rows`,
      counts: { total },
      checkpoint: { stage: 'read', line: fresh.at(-1)!.line } satisfies ImportProgress,
    };
    await pending;
    // The next rows are read while these are written.
    pending = inTransaction(db, async (sql) => {
      await storeRows(sql, job.id, payload.kind, staged);
      await job.checkpoint({ sql }, step);
    });
    pending.catch(() => undefined);
  }
  await pending;
  return { stage: 'plan' };
}
