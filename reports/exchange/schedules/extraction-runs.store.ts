import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  type FileFacts,
  readFile,
  recordFile,
  type StoredContent,
  type StoredFile,
  storeContent,
} from '../../../domain/kernel/files/files.store.ts';
import { type JobRights, ownRows } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, inTransaction, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { makeExport, manifestOf } from '../extraction/exports.job.ts';
import { requireVisible } from './extraction-schedules.queries.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';
import { makeReport } from './scheduled-report.make.ts';
import { prepareReport, requireSeen } from './scheduled-report.prepare.ts';
import type { KeyFigure, ScheduledReport } from './scheduled-report.types.ts';

/** The names of a run's files. They contain the scheduled time, so that a retry writes the same names. */
interface RunNames {
  file: string;
  manifest: string;
  /** Copies of the files of the newest run. */
  latestFile: string;
  latestManifest: string;
}

/** As `cards-20261121T020000Z.csv` with `cards-20261121T020000Z.manifest.json`, and `latest.csv`. */
export function runNames({ request, report }: Delivered, slot: Date): RunNames {
  const kind = request?.kind ?? 'report';
  const format = (request ?? report!).format;
  const time = slot.toISOString().replace(/[-:.]/g, '').replace(/000Z$/, 'Z');
  return {
    file: `${kind}-${time}.${format}`,
    manifest: `${kind}-${time}.manifest.json`,
    latestFile: `latest.${format}`,
    latestManifest: 'latest.manifest.json',
  };
}

/** What a run delivers: one of both. */
interface Delivered {
  request: ExportRequest | null;
  report: ScheduledReport | null;
}

/** A run with the columns of its schedule. */
export interface ExtractionRun extends Delivered {
  id: string;
  schedule_id: string;
  schedule_name: string;
  slot: Date;
  /** The digest of the saved report that the owner has seen. */
  report_digest: string | null;
  destination: StoredDestination;
  /** Encrypted. */
  secret: string | null;
  owner_id: string | null;
  rights: JobRights;
  /** The position after which an incremental run extracts changes; null: everything. */
  after: string | null;
  file_id: string | null;
  manifest_id: string | null;
}

/** The job of a run. */
interface RunJob {
  id: string;
  slot: Date | null;
  scheduleId: string;
}

/** Inserts the run's row for a job that the scheduler enqueued. @returns whether the schedule still exists. */
async function ensureRunRow(sql: Knex.Transaction, job: RunJob): Promise<boolean> {
  const schedules = await query(sql)
    .rows`select id from extraction_schedules where id = ${job.scheduleId} for key share`;
  if (!schedules[0]) return false;
  await query(sql)
    .run`insert into extraction_runs (schedule_id, job_id, trigger, slot) select ${job.scheduleId}, ${job.id}, 'schedule', ${job.slot} where ${job.slot}::timestamptz is not null
     on conflict (job_id) do nothing`;
  return true;
}

const withSchedule = `r.id, r.schedule_id, e.name as schedule_name, r.slot, e.request, e.report, e.report_digest, r.destination, e.secret, e.owner_id,
  e.rights, r.file_id, r.manifest_id, case when e.incremental then e.position::text end as after`;

/** Locks the run of a failed job, which may have failed before it began; undefined if the schedule is deleted. */
export async function lockFailedRun(sql: Knex.Transaction, job: RunJob): Promise<ExtractionRun | undefined> {
  if (!(await ensureRunRow(sql, job))) return undefined;
  const rows = await query(sql)
    .rows`select ${embed(withSchedule)} from extraction_runs r join extraction_schedules e on e.id = r.schedule_id
     where r.job_id = ${job.id} for update of r`;
  return rows[0];
}

/**
 * Begins or resumes the run of a job. A file that was written before the schedule was changed is discarded.
 * @returns undefined if the schedule is deleted.
 */
export async function beginRun(sql: Knex.Transaction, job: RunJob): Promise<ExtractionRun | undefined> {
  if (!(await ensureRunRow(sql, job))) return undefined;
  // a file of the schedule's former version, perhaps with another owner's rights, must not be delivered
  await query(sql).run`with stale as (
       select r.id, r.file_id, r.manifest_id from extraction_runs r join extraction_schedules e on e.id = r.schedule_id
       where r.job_id = ${job.id} and r.file_id is not null and e.updated_at > r.started_at
     ), gone as (
       update files f set expires_at = now() from stale s where f.id in (s.file_id, s.manifest_id)
     )
     update extraction_runs r set file_id = null, manifest_id = null, started_at = null from stale s where r.id = s.id`;
  const rows = await query(sql)
    .rows`update extraction_runs r set status = 'running', attempts = r.attempts + 1, finished_at = null,
       started_at = coalesce(r.started_at, clock_timestamp()), destination = e.destination
     from extraction_schedules e where r.job_id = ${job.id} and e.id = r.schedule_id
     returning ${embed(withSchedule)}`;
  return rows[0];
}

/** Records why an attempt of a run has failed; shown until the run ends. */
export async function recordFailedAttempt(
  sql: Sql,
  id: string,
  { code, message }: EstateError,
): Promise<void> {
  await sql('extraction_runs')
    .where({ id, status: 'running' })
    .update({ error: JSON.stringify({ code, message }) });
}

/** Whether a later run of the schedule has succeeded; its files remain the latest. */
export async function hasNewerRun(
  sql: Sql,
  run: { id: string; schedule_id: string; slot: Date },
): Promise<boolean> {
  const rows = await query(sql)
    .rows`select from extraction_runs where schedule_id = ${run.schedule_id} and slot > ${run.slot} and status = 'succeeded' limit 1`;
  return rows.length > 0;
}

/**
 * Writes the file of a run and its manifest, unless an earlier attempt of the job has. Both are recorded in one
 * transaction with the run, so that retries deliver the same snapshot.
 */
export async function makeRunFiles(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  run: ExtractionRun,
): Promise<ExtractionRun & { file_id: string; manifest_id: string }> {
  const { file_id, manifest_id } = run;
  if (file_id !== null && manifest_id !== null) return { ...run, file_id, manifest_id };
  const names = runNames(run, run.slot);
  const made = await (run.report
    ? extractReport(job, services, ctx, run, run.report)
    : extract(job, services, ctx, run.request!, run.after));
  const { content, facts } = made;
  const manifest = {
    schedule: { id: run.schedule_id, name: run.schedule_name },
    run_id: run.id,
    slot: run.slot.toISOString(),
    ...made.described,
    file: { name: names.file, size: content.size, sha256: content.sha256, media_type: facts.mediaType },
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const manifestContent = await storeContent(services.blobs, Readable.from([Buffer.from(text)]));
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, { ...facts, name: names.file });
    const mediaType = 'application/json';
    const stored = await recordFile(sql, manifestContent, { ...facts, mediaType, name: names.manifest });
    await sql('extraction_runs')
      .where({ id: run.id })
      .update({
        file_id: file.id,
        manifest_id: stored.id,
        rows: made.rows,
        bytes: file.size,
        sha256: file.sha256,
        after_position: made.described.after,
        position: made.described.position,
        figures: made.figures && JSON.stringify(made.figures),
      });
    const message = `${made.rows === null ? '' : `${made.rows} rows extracted, `}delivery pending`;
    await job.checkpoint({ sql }, { progress: 0.5, message });
    return { ...run, file_id: file.id, manifest_id: stored.id };
  });
}

/** What a run has made, before it is delivered. */
interface Made {
  content: StoredContent;
  facts: Omit<FileFacts, 'name'>;
  /** Null: not counted. */
  rows: number | null;
  /** What the manifest says besides the file. */
  described: { after: string | null; position: string | null } & Record<string, unknown>;
  /** Of a report. */
  figures: KeyFigure[] | null;
}

/** Extracts the changes since the last delivered run; everything if events since then are no longer stored. */
async function extract(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  request: ExportRequest,
  after: string | null,
): Promise<Made> {
  const make = async (wanted: ExportRequest): Promise<Made> => {
    const made = await makeExport(services, ctx, wanted, {
      signal: job.signal,
      onRows: (rows, share) => job.progress(share / 2, `${rows} rows`, { rows }),
    });
    const described = manifestOf(made.written, { ...made.content, name: '' });
    return { ...made, described, figures: null };
  };
  if (after === null) return await make(request);
  return await make({ ...request, after }).catch((error) => {
    if (!(error instanceof EstateError) || error.code !== 'position_expired') throw error;
    return make(request);
  });
}

/** Writes a saved report as it is now. @throws EstateError `forbidden` if the owner may not read it, or has to look at it. */
async function extractReport(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  run: ExtractionRun,
  report: ScheduledReport,
): Promise<Made> {
  const prepared = await prepareReport(ctx, report);
  requireSeen(prepared, run.report_digest);
  const made = await makeReport(services, { ctx, signal: job.signal }, report, prepared);
  const { saved_report_id: id, ...how } = report;
  const { name, report_type } = prepared.saved;
  const described = {
    report: { id, name, report_type },
    ...how,
    after: null,
    position: made.position,
    taken_at: new Date().toISOString(),
  };
  return { ...made, rows: null, described };
}

/** The files of a run. */
export type RunFile = 'file' | 'manifest';

/**
 * Opens a file of a run.
 * @throws EstateError `not_found` if the run is not visible or has no files (any more), `forbidden` as {@link readFile}.
 */
export async function runFile(ctx: Ctx, id: string, runId: string, which: RunFile): Promise<StoredFile> {
  await requireVisible(ctx, id);
  const own = ownRows(ctx.caller, 'e');
  const run = await ctx
    .db('extraction_runs as r')
    .join('extraction_schedules as e', 'e.id', 'r.schedule_id')
    .where({ 'r.id': runId, 'r.schedule_id': id })
    .whereNull('r.removed_at')
    .first('r.file_id', 'r.manifest_id', {
      own: ctx.db.raw(`(${own.sql}) is true`, own.bindings),
    });
  const fileId = which === 'file' ? run?.file_id : run?.manifest_id;
  if (!fileId) throw notFound('file of the run', runId);
  return await readFile(ctx, fileId, run.own);
}
