import { addAbortSignal, Readable } from 'node:stream';
import { type ReportPayload, reportJob } from '../../domain/inventory/reports/report.job.ts';
import { isPicture } from '../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { rightsOfFile, storeContent } from '../../domain/kernel/files/files.store.ts';
import { type StartedJob, startJob } from '../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../domain/kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { loadSettings } from '../../domain/kernel/settings/settings.read.ts';
import { reportNamed } from '../reports.catalogue.ts';
import type { Cell, Column, Table } from './formats/formats.types.ts';
import { render } from './rendering/rendering.queue.ts';
import type { RenderContext } from './rendering/rendering.types.ts';
import { reportRequest } from './report.cards.ts';
import { computeReport, positionOf } from './report.compute.ts';
import { fileMediaTypes, rowsTable } from './report.formats.ts';
import { labelledColumns } from './report.labels.ts';
import { dayOf, renderContextOf } from './report.rendering.ts';
import { finishWithFile } from './report.result.ts';
import { openReportStream, withStreamedTable } from './report.stream.ts';
import { checkReport, type ReportRequest } from './report.ts';

/** Time limit of the rendering in milliseconds; longer than for requests. */
const RENDER_MS = 15 * 60_000;

/** Enqueues a job that writes a report to a file; the request was validated before. */
export async function startReport(ctx: Ctx, payload: ReportPayload): Promise<StartedJob> {
  return await startJob(ctx, reportJob, payload, (id) => ({
    event_type: 'report.started',
    data: { ...payload, report_job_id: id },
  }));
}

/**
 * Writes a report to a file and stores it as the job's result, with the current rights of the owner.
 * @throws EstateError as the report, `forbidden` if a required permission was revoked since.
 */
export async function runReportJob(job: RunningJob<ReportPayload>, services: Services): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  const { report: name, params, filter, scope, as_of, format, table } = payload;
  const report = reportNamed(name);
  if (report.permission !== 'login') requirePermission(ctx.caller, report.permission);
  checkReport(report, ctx, params);
  const rights = await rightsOfFile(
    ctx,
    ...(report.permission === 'login' ? [] : [report.permission]),
    'inventory.view',
    'relations.view',
    'stakeholders.view',
  );
  const asOf = as_of === undefined ? undefined : new Date(as_of);
  const request = await reportRequest(ctx, report, params, { filter, scope, asOf, format });
  const { content: made, position } = await openReportFile(services, ctx, request, payload, signal);
  const content = await storeContent(services.blobs, made).catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
  const day = new Date().toISOString().slice(0, 10);
  const facts = {
    name: `estate-${name}${table === undefined ? '' : `-${table}`}-${day}.${format}`,
    ...rights,
    mediaType: fileMediaTypes[format],
  };
  return await finishWithFile(job, services, content, facts, (file) => ({
    message: `Report ${name}`,
    result: {
      report: name,
      format,
      position,
      as_of: as_of ?? null,
      file: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  }));
}

/** How a report is written to a file. */
export type ReportFileOptions = Pick<ReportPayload, 'format' | 'table' | 'theme' | 'width' | 'language'>;

/** Starts writing the file. @returns its stream and feed position. */
export async function openReportFile(
  services: Services,
  ctx: Ctx,
  request: ReportRequest,
  { format, table, theme, width, language }: ReportFileOptions,
  signal: AbortSignal,
): Promise<{ content: Readable; position: string }> {
  const { report, params } = request;
  if (!isPicture(format) && report.stream?.applies(params)) {
    const labelled = await labelsOf(services, ctx, request, { format, language });
    const { out, position } = await openReportStream(services.db, ctx, request, format, table, labelled);
    return { content: addAbortSignal(signal, out), position };
  }
  const body = await computeReport(ctx, request, services.cache);
  signal.throwIfAborted();
  const position = positionOf(body);
  if (format === 'json') return { content: Readable.from([body]), position };
  let look: RenderContext | undefined;
  // headers of workbooks are keys unless a language is named
  if (isPicture(format) || (format === 'xlsx' && language)) {
    const { values } = await loadSettings(services.db);
    look = renderContextOf(values, ctx.metamodel, dayOf(request.asOf), { theme, width, language });
  }
  const rendering = { report: report.name, params, body, format, table, look, said: request.said };
  const made = await render(rendering, { signal, limitMs: RENDER_MS, user: ctx.caller.userId });
  return { content: Readable.from([made]), position };
}

/** Passes the main table of a report to `use`. @returns the feed position. */
export async function withReportTable(
  services: Services,
  ctx: Ctx,
  request: ReportRequest,
  signal: AbortSignal,
  use: (table: Table) => Promise<void>,
): Promise<string> {
  const { report, params, said } = request;
  if (report.stream?.applies(params)) return await withStreamedTable(services.db, ctx, request, use);
  const body = await computeReport(ctx, request, services.cache);
  signal.throwIfAborted();
  const rendering = { report: report.name, params, body, format: 'rows' as const, said };
  const made = await render(rendering, { signal, limitMs: RENDER_MS, user: ctx.caller.userId });
  const lines = linesOf(made);
  const columns = lines.next().value as Column[];
  await use(rowsTable({ name: report.name, columns, rows: lines as Iterable<Cell[]> }));
  return positionOf(body);
}

function* linesOf(text: Buffer): Generator<unknown> {
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf('\n', from);
    const to = found < 0 ? text.length : found;
    yield JSON.parse(text.toString('utf8', from, to));
    from = to + 1;
  }
}

/** Replaces the headers of a workbook by labels, if a language is named. */
export async function labelsOf(
  { db }: Pick<Services, 'db'>,
  ctx: Ctx,
  { params, asOf }: Pick<ReportRequest, 'params' | 'asOf'>,
  { format, language }: Pick<ReportFileOptions, 'format' | 'language'>,
): Promise<(columns: Column[]) => Column[]> {
  if (format !== 'xlsx' || !language) return (columns) => columns;
  const { values } = await loadSettings(db);
  const { context } = renderContextOf(values, ctx.metamodel, dayOf(asOf), { language });
  return (columns) => labelledColumns(columns, params, context);
}
