import { Readable, type Writable } from 'node:stream';
import type { ReportFormat } from '../../../domain/exchange/exports/report.options.ts';
import {
  type ReportQuery,
  type ReportQueryPayload,
  reportQueryJob,
} from '../../../domain/exchange/exports/report-query.job.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  recordFile,
  type StoredContent,
  storeContent,
  storeWritten,
} from '../../../domain/kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { heldOf } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { inTransaction } from '../../../platform/database.ts';
import { fileMediaTypes } from '../../kernel/report.media.ts';
import { type DrawnQuery, drawQuery } from './picture/picture.draw.ts';
import { planQuery, type QueryPlan } from './query.plan.ts';
import { queryTimeOf, TIME_LIMITS, withQuerySnapshot } from './query.run.ts';
import { prepareQueryFile, type TableFormat } from './query.write.ts';

const fileName = (format: ReportFormat) => `estate-query-${new Date().toISOString().slice(0, 10)}.${format}`;

export interface StartedQueryFile {
  name: string;
  position: string;
}

/**
 * Starts to write all groups of a query into `out`, from one snapshot, and answers as soon as they flow. A failure on
 * the way destroys `out`, so that the client sees a broken download and no short file.
 * @throws EstateError as planQuery, `query_too_heavy`.
 */
export async function streamQueryFile(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  format: TableFormat,
  out: Writable,
): Promise<StartedQueryFile> {
  const plan = await planQuery(ctx, query);
  let flows = false;
  return await new Promise<StartedQueryFile>((resolve, reject) => {
    withQuerySnapshot(services.db, queryTimeOf(ctx, query), TIME_LIMITS.atOnce, async (snapshot) => {
      const file = await prepareQueryFile(snapshot, ctx, plan, format, { guarded: true });
      flows = true;
      resolve({ name: fileName(format), position: file.position });
      await file.write(out);
    }).catch((error: unknown) => {
      // answered before the rows flow, when nobody listens to the stream yet; noticed as a broken download after
      if (flows) out.destroy(error as Error);
      else reject(error);
    });
  });
}

/** Checks a query and asks for it as a job. @throws EstateError as planQuery. */
export async function startQuery(ctx: Ctx, payload: ReportQueryPayload): Promise<StartedJob> {
  await planQuery(ctx, payload.query);
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, reportQueryJob, payload);
    work.emit({ event_type: 'report_query.started', data: { ...payload, query_job_id: job.job_id } });
    return job;
  });
}

/** Draws the answer of a query. @throws EstateError as planQuery and drawQuery. */
export async function queryPicture(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  signal: AbortSignal,
): Promise<DrawnQuery> {
  return await drawQuery(services, ctx, query, await planQuery(ctx, query), { signal, forJob: false });
}

/** Writes the answer of a query job to a file and makes it the job's result. */
export async function runQueryJob(
  job: RunningJob<ReportQueryPayload>,
  services: Services,
): Promise<JobResult> {
  const { ctx } = job;
  const { query, format } = job.payload;
  const plan = await planQuery(ctx, query);
  const { content, groups, position } = await (format === 'svg'
    ? storePicture(job, services, plan)
    : storeGroups(job, services, plan, format));
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, {
      name: fileName(format),
      mediaType: fileMediaTypes[format],
      ownerId: ctx.caller.userId,
      withCosts: plan.costs,
      needs: heldOf(
        ctx.caller,
        'reports.ea_dashboard',
        'inventory.view',
        'relations.view',
        'stakeholders.view',
      ),
      // goes with its job
      expiresAt: null,
    });
    const done: JobResult = {
      fileId: file.id,
      message: `${groups} groups`,
      counts: { groups },
      result: {
        format,
        position,
        total_groups: groups,
        columns: plan.columns.map(({ name }) => name),
        file: { name: file.name, size: file.size, sha256: file.sha256 },
      },
    };
    await job.finish({ sql }, done);
    return done;
  });
}

interface StoredAnswer {
  content: StoredContent;
  groups: number;
  position: string;
}

async function storePicture(
  { ctx, payload, signal }: RunningJob<ReportQueryPayload>,
  services: Services,
  plan: QueryPlan,
): Promise<StoredAnswer> {
  const { svg, ...about } = await drawQuery(services, ctx, payload.query, plan, { signal, forJob: true });
  return { content: await storeContent(services.blobs, Readable.from([svg])), ...about };
}

async function storeGroups(
  { ctx, payload, signal }: RunningJob<ReportQueryPayload>,
  services: Services,
  plan: QueryPlan,
  format: TableFormat,
): Promise<StoredAnswer> {
  return await withQuerySnapshot(
    services.db,
    queryTimeOf(ctx, payload.query),
    TIME_LIMITS.job,
    async (snapshot) => {
      const file = await prepareQueryFile(snapshot, ctx, plan, format, { signal, guarded: false });
      const { content, written } = await storeWritten(services.blobs, (out) => file.write(out));
      return { content, groups: written, position: file.position };
    },
  );
}
