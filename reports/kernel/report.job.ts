import { addAbortSignal, Readable } from 'node:stream';
import { type ReportPayload, reportJob } from '../../domain/inventory/reports/report.job.ts';
import { command } from '../../domain/kernel/command.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { recordFile, rightsOfFile, storeContent } from '../../domain/kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../domain/kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { loadSettings } from '../../domain/kernel/settings/settings.state.ts';
import { inTransaction } from '../../platform/database.ts';
import { reportNamed } from '../reports.catalogue.ts';
import { render } from './rendering/rendering.queue.ts';
import { activeCards, reportCards } from './report.cards.ts';
import { computeAnswer, positionOf } from './report.compute.ts';
import { fileMediaTypes } from './report.media.ts';
import type { ReportQuestion } from './report.question.ts';
import { dayOf, type RenderContext, renderContextOf, renderingOf } from './report.rendering.ts';
import { openReportStream } from './report.stream.ts';

/** In milliseconds: nobody waits for the answer of a job. */
const RENDER_MS = 15 * 60_000;

/** Asks for the answer of a report as a job; the question was checked. */
export async function startReport(ctx: Ctx, payload: ReportPayload): Promise<StartedJob> {
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, reportJob, payload);
    work.emit({ event_type: 'report.started', data: { ...payload, report_job_id: job.job_id } });
    return job;
  });
}

/**
 * Writes the answer of a report to a file and makes it the job's result. What the owner may see is decided now.
 * @throws EstateError as the report, `forbidden` when a right was lost since.
 */
export async function runReportJob(job: RunningJob<ReportPayload>, services: Services): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  const { report: name, params, filter, as_of, format, table } = payload;
  const report = reportNamed(name);
  if (report.permission !== 'login') requirePermission(ctx.caller, report.permission);
  report.check?.(ctx, params);
  const rights = await rightsOfFile(
    ctx,
    ...(report.permission === 'login' ? [] : [report.permission]),
    'inventory.view',
    'relations.view',
    'stakeholders.view',
  );
  const question: ReportQuestion = {
    report,
    params,
    cards: await reportCards(ctx, filter),
    filtered: Boolean(filter),
    ...(as_of === undefined ? {} : { asOf: new Date(as_of) }),
    ...(format === 'svg' && report.stream?.applies(params) ? { forPicture: true as const } : {}),
  };
  const { content: made, position } = await makeAnswer(services, ctx, question, payload, signal);
  const content = await storeContent(services.blobs, made).catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
  return await inTransaction(services.db, async (sql) => {
    const day = new Date().toISOString().slice(0, 10);
    const file = await recordFile(sql, content, {
      name: `estate-${name}${table === undefined ? '' : `-${table}`}-${day}.${format}`,
      ...rights,
      mediaType: fileMediaTypes[format],
      // goes with its job
      expiresAt: null,
    });
    const done: JobResult = {
      fileId: file.id,
      message: `The answer of the report ${name}`,
      result: {
        report: name,
        format,
        position,
        as_of: as_of ?? null,
        file: { name: file.name, size: file.size, sha256: file.sha256 },
      },
    };
    await job.finish({ sql }, done);
    return done;
  });
}

/** The file, flowing, and the feed position that it includes. */
async function makeAnswer(
  services: Services,
  ctx: Ctx,
  question: ReportQuestion,
  { format, table }: ReportPayload,
  signal: AbortSignal,
): Promise<{ content: Readable; position: string }> {
  const { report, params, cards } = question;
  if (format !== 'svg' && report.stream?.applies(params)) {
    const input = { ctx, params, cards, visible: activeCards(ctx) };
    const { out, position } = await openReportStream(services.db, input, question, format, table);
    return { content: addAbortSignal(signal, out), position };
  }
  const body = await computeAnswer(ctx, question, services.cache);
  signal.throwIfAborted();
  const position = positionOf(body);
  if (format === 'json') return { content: Readable.from([body]), position };
  let look: RenderContext | undefined;
  if (format === 'svg') {
    const { values } = await loadSettings(services.db);
    look = renderContextOf(values, ctx.metamodel, dayOf(question.asOf));
  }
  const rendering = renderingOf({ report: report.name, params, body, format, table, look });
  const made = await render(rendering, { signal, limitMs: RENDER_MS, user: ctx.caller.userId });
  return { content: Readable.from([made]), position };
}
