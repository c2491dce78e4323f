import { type ExportRequest, exportJob } from '../../../domain/exchange/exports/export.job.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  type FileFacts,
  rightsOfFile,
  type StoredContent,
  storeWritten,
} from '../../../domain/kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { missingResult, visibleJobs } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, fragment, joinFragments, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { withSnapshot } from '../../../platform/snapshot.ts';
import { finishWithFile } from '../../kernel/report.result.ts';
import { exportName, type Manifest, manifestOf, mediaTypes, type Written } from './extraction.manifest.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

/** Checks an export and enqueues it as a job. @throws EstateError as {@link planExtraction}. */
export async function startExport(ctx: Ctx, request: ExportRequest): Promise<StartedJob> {
  await planExtraction(ctx, request);
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, exportJob, request);
    work.emit({ event_type: 'export.started', data: { ...request, export_job_id: job.job_id } });
    return job;
  });
}

/** Stored content; the caller records it as a file. */
export interface MadeExport {
  content: StoredContent;
  /** Size and digest. */
  facts: Omit<FileFacts, 'name'>;
  written: Written;
  /** In all tables. */
  rows: number;
}

/**
 * Extracts a request from one snapshot into the blob store, with the rights of the context.
 * @param options.onRows is called with the number of rows so far and the estimated share of all (0 to 1).
 * @throws EstateError as {@link planExtraction}.
 */
export async function makeExport(
  services: Services,
  ctx: Ctx,
  request: ExportRequest,
  options: { signal: AbortSignal; onRows(rows: number, share: number): void },
): Promise<MadeExport> {
  const plan = await planExtraction(ctx, request);
  const rights = await rightsOfFile(ctx, 'inventory.export', 'relations.view', 'stakeholders.view');
  return await withSnapshot(services.db, async (snapshot) => {
    const takenAt = new Date();
    const position = await snapshotPosition(snapshot, request.after);
    const { tables, write } = await prepareExtraction(snapshot, ctx, plan, position);
    const expected = tables.reduce((sum, table) => sum + table.expected, 0);
    const rowsOf = new Map<string, number>();
    let rows = 0;
    const { content } = await storeWritten(services.blobs, (out) =>
      write(out, {
        signal: options.signal,
        onRows: (more, table) => {
          rows += more;
          rowsOf.set(table, (rowsOf.get(table) ?? 0) + more);
          options.onRows(rows, Math.min(rows / Math.max(expected, 1), 0.99));
        },
      }),
    );
    const counted = tables.map(({ name, columns }) => ({ name, columns, rows: rowsOf.get(name) ?? 0 }));
    return {
      content,
      facts: { ...rights, mediaType: mediaTypes[request.format], expiresAt: null },
      written: { request, position, takenAt, tables: counted },
      rows,
    };
  });
}

/** Runs an export job: writes its file from one snapshot and stores it with the manifest as the job's result. */
export async function runExport(job: RunningJob<ExportRequest>, services: Services): Promise<JobResult> {
  const { ctx, payload: request } = job;
  const { content, facts, written, rows } = await makeExport(services, ctx, request, {
    signal: job.signal,
    onRows: (soFar, share) => job.progress(share, `${soFar} rows`, { rows: soFar }),
  });
  const named = { ...facts, name: exportName(request, new Date()) };
  return await finishWithFile(job, services, content, named, (file) => ({
    message: `${rows} rows`,
    counts: { rows, total: rows },
    result: { ...manifestOf(written, file) },
  }));
}

/**
 * The manifest of an export job.
 * @throws EstateError `not_found`, `job_result_missing` unless it has succeeded.
 */
export async function readManifest(ctx: Ctx, jobId: string): Promise<Manifest> {
  const visible = visibleJobs(ctx).map((condition) => fragment`and ${embed(condition)}`);
  const job = await query(ctx.db).row`select j.status, j.result from jobs j
    where j.id = ${jobId} and j.kind = ${exportJob.kind} ${embed(joinFragments(visible, ' '))}`;
  if (!job) throw notFound('export', jobId);
  if (!job.result) throw missingResult(jobId, job.status);
  return job.result;
}
