import { setTimeout as delay } from 'node:timers/promises';
import type { BlobStore } from '../../../platform/blobs.ts';
import { type Db, embed, inTransaction, query, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredContent } from '../../kernel/files/files.store.ts';
import type { StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { nothingWritten } from '../../kernel/jobs/jobs.lease.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { noteAttributes, noteParts } from '../../kernel/metamodel/deprecations.ts';
import type { Services } from '../../kernel/services.ts';
import { readSheetNames, XLSX } from '../../kernel/transfer/xlsx.read.ts';
import { applyBatches, applyPlan, isTaken, writeAtOnce } from './imports.apply-batches.ts';
import { countRows, createStager, planTable, storeOutcomes, storeRows } from './imports.cards.stage.ts';
import type { StagedCard } from './imports.cards.types.ts';
import { FailedRows, storeFailedRows } from './imports.failed.ts';
import { type ImportPayload, importJob } from './imports.job.ts';
import { planImport } from './imports.plan.ts';
import { checkSheets } from './imports.read-xlsx.ts';
import {
  countOutcomes,
  countWarned,
  endImport,
  firstWarned,
  reportLines,
  showsCostChanges,
  startFileJob,
} from './imports.report.ts';
import { requireImportRights, viewRights } from './imports.rights.ts';
import type { CardRowValues } from './imports.row.ts';
import { sentRows } from './imports.sent.ts';
import { readSource } from './imports.source.ts';
import { removeStaged } from './imports.staged.clean.ts';
import { createdTags, storeRowWarnings } from './imports.tags.ts';
import {
  type ApplyProgress,
  BatchConflict,
  type ImportProgress,
  PlanOutdated,
  type RowOutcome,
  shares,
} from './imports.types.ts';

export type ImportOptions = Omit<ImportPayload, 'file_id'>;

const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson', xlsx: XLSX };

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
  requireFocus(options);
  if (options.create_tags && options.kind !== 'cards')
    throw invalidField('create_tags', 'not_offered', 'is only for cards');
  if (options.sheet !== undefined && options.format !== 'xlsx')
    throw invalidField('sheet', 'not_offered', 'is only for XLSX');
  await checkHead(ctx, blobs, content, options);
  const file = { name: `import.${options.format}`, mediaType: mediaTypes[options.format] };
  return await startFileJob(ctx, content, file, importJob, options);
}

/** @throws EstateError `validation_failed` naming an option that does not fit a FOCUS file, or only fits one. */
function requireFocus({ profile, kind, format, card_column }: ImportOptions): void {
  if (profile === undefined) return;
  if (kind !== 'costs') throw invalidField('profile', 'not_offered', 'is only for costs');
  if (format !== 'csv') throw invalidField('profile', 'not_offered', 'is only for CSV');
  if (!card_column) throw invalidField('card_column', 'required', 'names the card of each charge');
}

/**
 * Reads as much of the file as its first row needs, and notes the deprecated parts that header and first row name; of a workbook
 * the names of its sheets, since all its texts lie apart.
 */
async function checkHead(
  ctx: Ctx,
  blobs: BlobStore,
  content: StoredContent,
  options: ImportOptions,
): Promise<void> {
  const { kind, format, sheet } = options;
  if (format === 'xlsx') return await checkSheets(blobs, content, kind, sheet);
  const { metamodel } = ctx;
  const former = new Set<string>();
  const onFormer = (path: string) => void former.add(path);
  const rows = readSource(blobs, content, metamodel, kind, options, { batchRows: 1, onFormer });
  const { value: batch } = await rows.next();
  await rows.return(undefined);
  noteParts(ctx, metamodel, former);
  const { type, attributes } = (batch?.[0]?.values ?? {}) as CardRowValues;
  if (typeof type !== 'string' || (kind !== 'cards' && kind !== 'relations')) return;
  noteParts(ctx, metamodel, [`${kind === 'cards' ? 'type' : 'relation_type'}:${type}`]);
  noteAttributes(ctx, metamodel, { kind: kind === 'cards' ? 'card' : 'relation', type }, attributes);
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

/** The names of the sheets of an uploaded workbook. */
async function sheetsOf(sql: Transaction, blobs: BlobStore, id: string): Promise<string[]> {
  const { size } = await sql('files').where({ id }).first('size');
  return await readSheetNames(blobs, { id, size: Number(size) });
}

/** Reads the file again for the rows that failed, as long as it is stored. */
async function openFailedRows(
  sql: Transaction,
  { payload, ctx: { metamodel } }: RunningJob<ImportPayload>,
  blobs: BlobStore,
): Promise<FailedRows> {
  const { size } = await sql('files').where({ id: payload.file_id }).first('size');
  const file = { id: payload.file_id, size: Number(size) };
  return new FailedRows(blobs, sentRows(blobs, file, metamodel, payload), { metamodel, kind: payload.kind });
}

/** The number of rows with warnings in the job's result. */
const MOST_WARNED = 100;

/** Ends the job with its report, in the caller's transaction. */
async function endWithReport(
  sql: Transaction,
  job: RunningJob<ImportPayload>,
  { blobs }: Services,
): Promise<JobResult> {
  const { kind, atomic, report, file_id, format, create_tags } = job.payload;
  const counts = await countOutcomes(sql, job.id);
  const warned = await countWarned(sql, job.id);
  const sheets = format === 'xlsx' ? await sheetsOf(sql, blobs, file_id) : undefined;
  const tags = create_tags ? await createdTags(sql, job.id) : undefined;
  const lines = reportLines(sql, { jobId: job.id, kind, rows: report, sheets });
  const failed = counts.failed! > 0 ? await openFailedRows(sql, job, blobs) : undefined;
  return await endImport(sql, job, blobs, {
    name: 'import',
    report: failed ? failed.withValues(lines) : lines,
    counts: {
      ...counts,
      ...(warned.rows > 0 && { warnings: warned.rows }),
      ...(tags && { created_tags: tags.total }),
    },
    error: atomic && counts.failed! > 0 ? nothingWritten(counts) : undefined,
    facts: async () => ({
      kind,
      atomic,
      ...(tags && { created_tags: tags.items }),
      ...(warned.rows > 0 && { warnings: await firstWarned(sql, job.id, MOST_WARNED, sheets) }),
      ...(failed && { failed_rows: await storeFailedRows(sql, job, failed) }),
    }),
    needs: report === 'changes' ? viewRights(kind) : warned.ofCards ? ['inventory.view'] : [],
    withCosts: report === 'changes' && (await showsCostChanges(sql, job, kind)),
  });
}

/**
 * Executes an import in stages, each of which can resume: the file is read into staging tables, planned as a whole,
 * written in batches, and its report is stored.
 * @param warn stores the warnings of rows that create or rename cards, before an atomic import writes, and after others have.
 * @param tuning maximum rows of one read and of one batch. Few rows are read at once, so that they are garbage before they
 * are promoted to the old space, and the heap does not grow with the file.
 */
export async function runImport(
  job: RunningJob<ImportPayload>,
  services: Services,
  warn: (job: RunningJob<ImportPayload>, db: Db) => Promise<void> = async () => {},
  tuning = { readRows: 250, batchRows: 1_000 },
): Promise<JobResult> {
  requireImportRights(job.ctx, job.payload);
  const { readRows, batchRows } = tuning;
  let progress = await resumeFrom(job, services);
  job.ctx.batch.rowCount = job.counts.total ?? 0;
  if (progress.stage === 'read') progress = await readFile(job, services, progress, readRows);
  if (progress.stage === 'plan') progress = await plan(job, services, batchRows, progress.batch ?? 0);
  let result: JobResult | undefined;
  if (progress.stage === 'apply') {
    const warned = async () => void (job.payload.kind === 'cards' && (await warn(job, services.db)));
    const isAtomic = job.payload.atomic && !job.payload.dry_run;
    if (isAtomic) await warned();
    result = await replanning(job, services, progress, batchRows, async (from, mayReplan) => {
      if (isAtomic) return await applyAtomically(job, services, from, mayReplan);
      await applyBatches(job, services, from, mayReplan);
    });
    if (!isAtomic) await warned();
  }
  result ??= await finishImport(job, services);
  await removeStaged(services.db, job.id).catch((error) => {
    job.ctx.log.warn({ err: error }, 'the staged rows of an import could not be deleted; clean-up will');
  });
  return result;
}

/** The stage to continue with. @throws EstateError `wrong_state` if the rows that earlier runs have read were cleaned up. */
async function resumeFrom(job: RunningJob<ImportPayload>, { db }: Services): Promise<ImportProgress> {
  if (job.resume === null) return { stage: 'read', line: 0 };
  if (job.counts.total! > 0 && (await countRows(db, job.id, job.payload.kind)) === 0) {
    const detail = 'The rows that the import had read were cleaned up: start a new import.';
    throw new EstateError('wrong_state', detail);
  }
  return job.resume as ImportProgress;
}

/** How often an upsert is planned again for the same batch, in total. */
const MAX_REPLANS = 5;
const OTHERS_POLL_MS = 500;
/** Then rows are planned again in any case: the others may be writing other rows. */
const OTHERS_MAX_MS = 60_000;

/**
 * Applies the plan. If others have taken keys of rows of an upsert meanwhile, the rows that are not written are planned
 * again, so that they change what the others have created.
 */
async function replanning<T>(
  job: RunningJob<ImportPayload>,
  services: Services,
  progress: ApplyProgress,
  batchRows: number,
  apply: (from: ApplyProgress, mayReplan: boolean) => Promise<T>,
): Promise<T> {
  const isReplanned = job.payload.mode === 'upsert' && !job.payload.dry_run;
  let from = progress;
  for (let replans = 0; ; ) {
    try {
      return await apply(from, isReplanned && replans < MAX_REPLANS);
    } catch (error) {
      if (!(error instanceof PlanOutdated)) throw error;
      if (error.batch === from.batch) replans += 1;
      const outdated: ImportProgress = { stage: 'plan', batch: error.batch };
      await inTransaction(services.db, (sql) => job.checkpoint({ sql }, { checkpoint: outdated }));
      await untilOthersHaveWritten(job, services.db);
      from = await plan(job, services, batchRows, error.batch);
    }
  }
}

/**
 * Waits for imports that are writing their rows: what they write next would invalidate a new plan. Those that wait
 * themselves are to be planned, and so nobody waits for them.
 */
async function untilOthersHaveWritten(
  { id, payload, signal }: RunningJob<ImportPayload>,
  db: Db,
): Promise<void> {
  for (const end = Date.now() + OTHERS_MAX_MS; Date.now() < end; ) {
    const isWriting = await query(db).value<boolean>`select exists (select from jobs
      where kind = ${importJob.kind} and status = 'running' and id <> ${id} and payload ->> 'kind' = ${payload.kind}
        and lease_until > now()
        and checkpoint ->> 'stage' = 'apply' and (checkpoint ->> 'batch')::integer > 0)`;
    if (!isWriting) return;
    await delay(OTHERS_POLL_MS, undefined, { signal });
  }
}

async function plan(
  job: RunningJob<ImportPayload>,
  { db }: Services,
  batchRows: number,
  firstBatch: number,
): Promise<ApplyProgress> {
  job.progress(shares.read, 'Planning');
  const next = (batches: number): ApplyProgress => ({ stage: 'apply', batch: firstBatch, batches });
  const options = { ...job.payload, batchRows, firstBatch };
  const planned = await planImport(job, db, options, async (sql, { batches, rows }) => {
    const total = await countRows(sql, job.id, job.payload.kind);
    const counts = { ...(await countOutcomes(sql, job.id)), total };
    job.ctx.batch.rowCount = total;
    const message = `Importing ${rows} rows`;
    const progress = shares.read + shares.plan;
    await job.checkpoint({ sql }, { progress, message, counts, checkpoint: next(batches) });
  });
  return next(planned.batches);
}

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
  { batch, batches }: ApplyProgress,
  mayReplan: boolean,
): Promise<JobResult | undefined> {
  const { db } = services;
  const failed = await db('import_outcomes').where({ job_id: job.id, outcome: 'failed' }).first('line');
  if (failed) return undefined;
  try {
    return await writeAtOnce(job, async ({ work, searchTaken, flush }) => {
      const failed = await applyPlan({
        ...{ work, searchTaken, batches, ctx: job.ctx, jobId: job.id, signal: job.signal },
        kind: job.payload.kind,
        withChanges: job.payload.report === 'changes',
        async applied(done) {
          await flush();
          job.progress(shares.read + shares.plan + (done / batches) * shares.apply, 'Importing at once');
        },
      }).catch((error) => {
        if (!(error instanceof BatchConflict)) throw error;
        return [...error.errors].map(
          ([line, own]): RowOutcome => ({ line, outcome: 'failed', errors: [own] }),
        );
      });
      if (mayReplan && failed.some(isTaken)) throw new PlanOutdated(batch);
      if (failed.length > 0) throw new AtomicRefusal(failed);
      return await endWithReport(work.sql, job, services);
    });
  } catch (error) {
    if (!(error instanceof AtomicRefusal)) throw error;
    await inTransaction(db, async (sql) => {
      await storeOutcomes(sql, job.id, error.outcomes);
      await job.checkpoint({ sql }, { checkpoint: { stage: 'report' } satisfies ImportProgress });
    });
    return undefined;
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
  const { size } = await db('files').where({ id: payload.file_id }).first('size');
  const file = { id: payload.file_id, size: Number(size) };
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
  };
  const stage = await createStager(ctx, db, payload.kind, payload);
  let total = job.counts.total ?? 0;
  let pending: Promise<void> = Promise.resolve();
  const reading = { batchRows: readRows, onBytes };
  for await (const rows of readSource(blobs, file, ctx.metamodel, payload.kind, payload, reading)) {
    signal.throwIfAborted();
    const fresh = rows.filter(({ line }) => line > from.line);
    if (fresh.length === 0) continue;
    const staged = await stage(db, fresh);
    total += fresh.length;
    const step = {
      progress: Math.min(1, bytes / Math.max(1, file.size)) * shares.read,
      message: `Reading: ${total} rows`,
      counts: { total },
      checkpoint: { stage: 'read', line: fresh.at(-1)!.line } satisfies ImportProgress,
    };
    await pending;
    // The next rows are read while these are written.
    pending = inTransaction(db, async (sql) => {
      await storeRows(sql, job.id, payload.kind, staged);
      if (payload.create_tags) await storeRowWarnings(sql, job.id, staged as StagedCard[]);
      await job.checkpoint({ sql }, step);
    });
    pending.catch(() => undefined);
  }
  await pending;
  return { stage: 'plan', batch: 0 };
}
