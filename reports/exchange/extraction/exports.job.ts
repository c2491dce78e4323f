import Type, { type Static } from 'typebox';
import { ExportRequest, exportJob } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import {
  type FileFacts,
  rightsOfFile,
  type StoredContent,
  type StoredFile,
  storeWritten,
} from '../../../domain/kernel/files/files.store.ts';
import { type StartedJob, startJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { missingResult, visibleJobs } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { NullableText, object, Position, Timestamp } from '../../../domain/kernel/shapes.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import { embed, fragment, joinFragments, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { withSnapshot } from '../../../platform/snapshot.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';
import { finishWithFile } from '../../kernel/report.result.ts';
import { isWorkbook, planExtraction } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

/** The types of columns in manifests. */
const typeNames: Record<ColumnType, string> = {
  text: 'string',
  key: 'string',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamp',
  multi: 'list<string>',
  json: 'string',
};

const { after: _, ...requested } = ExportRequest.properties;

/** Describes a file of an extraction to programs that load it. */
export const Manifest = object({
  ...requested,
  after: NullableText('The position after which changes were extracted; null for a full export'),
  position: Position,
  taken_at: Timestamp,
  tables: Type.Array(
    object({
      name: Type.String(),
      rows: Type.Integer(),
      columns: Type.Array(object({ name: Type.String(), type: Type.String() })),
    }),
  ),
  file: object({
    name: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    sha256: Type.String(),
  }),
});
type Manifest = Static<typeof Manifest>;

/** An extraction whose rows are written. */
interface Written {
  request: ExportRequest;
  position: string;
  takenAt: Date;
  tables: { name: string; rows: number; columns: Column[] }[];
}

/** The manifest of a stored extraction. */
export function manifestOf(
  { request, position, takenAt, tables }: Written,
  file: Pick<StoredFile, 'name' | 'size' | 'sha256'>,
): Manifest {
  return {
    ...request,
    after: request.after ?? null,
    position,
    taken_at: takenAt.toISOString(),
    tables: tables.map(({ name, rows, columns }) => ({
      name,
      rows,
      columns: columns.map(({ header, type }) => ({ name: header, type: typeNames[type] })),
    })),
    file: { name: file.name, size: file.size, sha256: file.sha256 },
  };
}

export const mediaTypes: Record<ExportRequest['format'], string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  xlsx: XLSX,
};

/** The name of an export's file. */
export function exportName(request: Pick<ExportRequest, 'kind' | 'format'>, at: Date): string {
  return `estate-${request.kind}-${at.toISOString().slice(0, 10)}.${request.format}`;
}

/**
 * Checks an export and enqueues it as a job.
 * @param language of the caller, for a workbook with labels.
 * @throws EstateError as {@link planExtraction}.
 */
export async function startExport(ctx: Ctx, given: ExportRequest, language?: string): Promise<StartedJob> {
  const { request } = await planExtraction(ctx, {
    ...(isWorkbook(given) && language && { language }),
    ...given,
  });
  return await startJob(ctx, exportJob, request, (id) => ({
    event_type: 'export.started',
    data: { ...request, export_job_id: id },
  }));
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
    const facts = { ...rights, mediaType: mediaTypes[request.format], expiresAt: null };
    return { content, facts, written: { request, position, takenAt, tables: counted }, rows };
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
