import { Readable, type Writable } from 'node:stream';
import { type Fragment, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import {
  type ReportQuery,
  type ReportQueryPayload,
  reportQueryJob,
} from '../../../domain/inventory/reports/report.job.ts';
import {
  isPicture,
  type PictureFormat,
  type ReportFormat,
} from '../../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import {
  rightsOfFile,
  type StoredContent,
  storeContent,
  storeWritten,
} from '../../../domain/kernel/files/files.store.ts';
import { type StartedJob, startJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { type StartedFile, startStream, writeChunks } from '../../kernel/formats/chunk-streams.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import {
  fileMediaTypes,
  statementTable,
  type TableFormat,
  writeTables,
} from '../../kernel/report.formats.ts';
import { finishWithFile } from '../../kernel/report.result.ts';
import { type DrawnQuery, type DrawOptions, drawQuery } from './picture/picture.draw.ts';
import { type CompiledQuery, compileQuery } from './query.compile.ts';
import { planQuery, type QueryPlan } from './query.plan.ts';
import { describeColumns, guardStatement, queryTimeOf, TIME_LIMITS, withQuerySnapshot } from './query.run.ts';

const fileName = (format: ReportFormat) => `estate-query-${new Date().toISOString().slice(0, 10)}.${format}`;

/**
 * Starts to write all groups of a query, from one snapshot; see {@link startStream}.
 * @throws EstateError as planQuery, `query_too_heavy`.
 */
export async function streamQueryFile(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  format: GroupsFormat,
): Promise<Omit<StartedFile, 'mediaType'>> {
  const plan = await planQuery(ctx, query);
  return await startStream(ctx.caller, (out, start) =>
    withQuerySnapshot(services.db, queryTimeOf(ctx, query), TIME_LIMITS.inRequest, async (snapshot) => {
      const file = await prepareQueryFile(snapshot, ctx, plan, format, { guarded: true });
      start({ name: fileName(format), position: file.position, out });
      await file.write(out);
    }),
  );
}

/** Checks a query and enqueues it as a job. @throws EstateError as planQuery. */
export async function startQuery(ctx: Ctx, payload: ReportQueryPayload): Promise<StartedJob> {
  await planQuery(ctx, payload.query);
  return await startJob(ctx, reportQueryJob, payload, (id) => ({
    event_type: 'report_query.started',
    data: { ...payload, query_job_id: id },
  }));
}

/** A query for a picture: cards that are grouped by id are drawn by name. */
function withNames(query: ReportQuery): ReportQuery {
  const has = (field: string) => query.dimensions.some((dimension) => dimension.field.trim() === field);
  return has('id') && !has('name')
    ? { ...query, dimensions: [{ field: 'name' }, ...query.dimensions] }
    : query;
}

/** Draws the result of a query. @throws EstateError as planQuery and drawQuery. */
export async function queryPicture(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  how: Omit<DrawOptions, 'forJob'>,
): Promise<DrawnQuery> {
  const drawn = withNames(query);
  return await drawQuery(services, ctx, drawn, await planQuery(ctx, drawn), { ...how, forJob: false });
}

/** The chart of a query's result as JSON, drawn by a job. @throws EstateError as planQuery and drawQuery. */
export async function queryChartText(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  how: Pick<DrawOptions, 'signal' | 'options'>,
): Promise<DrawnQuery> {
  const drawn = withNames(query);
  const plan = await planQuery(ctx, drawn);
  return await drawQuery(services, ctx, drawn, plan, { ...how, format: 'chart', forJob: true });
}

/** Writes the result of a query job to a file and stores it as the job's result. */
export async function runQueryJob(
  job: RunningJob<ReportQueryPayload>,
  services: Services,
): Promise<JobResult> {
  const { ctx } = job;
  const { format } = job.payload;
  const query = isPicture(format) ? withNames(job.payload.query) : job.payload.query;
  const plan = await planQuery(ctx, query);
  const rights = await rightsOfFile(
    ctx,
    'reports.ea_dashboard',
    'inventory.view',
    'relations.view',
    'stakeholders.view',
  );
  const { content, groups, position } = await (isPicture(format)
    ? storePicture(job, services, query, plan, format)
    : storeQueryGroups(services, job, query, plan, format));
  const mediaType = fileMediaTypes[format];
  const facts = { ...rights, name: fileName(format), mediaType, withCosts: plan.costs };
  return await finishWithFile(job, services, content, facts, (file) => ({
    message: `${groups} groups`,
    counts: { groups },
    result: {
      format,
      position,
      total_groups: groups,
      columns: plan.columns.map(({ name }) => name),
      file: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  }));
}

/** A stored result of a query. */
interface StoredResponse {
  content: StoredContent;
  groups: number;
  position: string;
}

async function storePicture(
  { ctx, payload, signal }: RunningJob<ReportQueryPayload>,
  services: Services,
  query: ReportQuery,
  plan: QueryPlan,
  format: PictureFormat,
): Promise<StoredResponse> {
  const { theme, width, language } = payload;
  const how = { signal, format, options: { theme, width, language }, forJob: true };
  const { picture, ...about } = await drawQuery(services, ctx, query, plan, how);
  return { content: await storeContent(services.blobs, Readable.from([picture])), ...about };
}

/** Stores all groups of a query as a file, with the time limit of a job. */
async function storeQueryGroups(
  services: Services,
  { ctx, signal }: Pick<RunningJob<unknown>, 'ctx' | 'signal'>,
  query: ReportQuery,
  plan: QueryPlan,
  format: GroupsFormat,
): Promise<StoredResponse> {
  return await withQuerySnapshot(services.db, queryTimeOf(ctx, query), TIME_LIMITS.job, async (snapshot) => {
    const file = await prepareQueryFile(snapshot, ctx, plan, format, { signal, guarded: false });
    const { content, written } = await storeWritten(services.blobs, (out) => file.write(out));
    return { content, groups: written, position: file.position };
  });
}

/** Passes all groups of a query as a table to `use`, from one snapshot. @returns the feed position. */
export async function withQueryTable(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  plan: QueryPlan,
  use: (table: Table) => Promise<void>,
): Promise<string> {
  return await withQuerySnapshot(services.db, queryTimeOf(ctx, query), TIME_LIMITS.job, async (snapshot) => {
    const position = await snapshotPosition(snapshot);
    await use(tableOf(snapshot, plan, compileQuery(plan)));
    return position;
  });
}

/** The formats that contain every group. */
type GroupsFormat = 'json' | TableFormat;

interface WriteOptions {
  signal?: AbortSignal;
  /** Whether a heavy query is refused before it starts. */
  guarded: boolean;
}

/** A prepared file of all groups. */
interface PreparedQuery {
  /** The feed position of the data. */
  position: string;
  /** Writes the groups and ends the stream. @returns their number. */
  write(out: Writable): Promise<number>;
}

const selected = ({ groups, order }: CompiledQuery, list: string): Fragment =>
  sql`${groups} select ${{ sql: list, bindings: [], total: false }} from h${order}`;

function tableOf(snapshot: Snapshot, plan: QueryPlan, compiled: CompiledQuery): Table {
  const columns: Column[] = plan.columns.map(({ name, type, unit }) => ({
    header: name,
    type,
    ...(unit === 'currency' ? { money: true } : {}),
  }));
  return statementTable(
    snapshot,
    { name: 'Query', columns },
    selected(compiled, compiled.outputs.join(', ')),
  );
}

/**
 * Prepares a file of all groups from one snapshot, which is written in batches.
 * @throws EstateError `query_too_heavy`.
 */
async function prepareQueryFile(
  snapshot: Snapshot,
  ctx: Ctx,
  plan: QueryPlan,
  format: GroupsFormat,
  options: WriteOptions,
): Promise<PreparedQuery> {
  const compiled = compileQuery(plan);
  const cells = compiled.outputs;
  if (options.guarded) await guardStatement(snapshot, selected(compiled, cells.join(', ')));
  const position = await snapshotPosition(snapshot);
  const described = await describeColumns(ctx.db, plan);
  let rows = 0;
  const count = (more: number) => {
    rows += more;
  };
  const writeJson = async (out: Writable) => {
    const { sql: text, bindings } = selected(compiled, `json_build_array(${cells.join(', ')})::text`);
    const items = snapshot.batches(text, bindings, 1_000) as AsyncIterable<string[][]>;
    async function* chunks(): AsyncGenerator<string> {
      yield `{"columns":${JSON.stringify(described)},"rows":[`;
      for await (const batch of items) {
        yield `${rows > 0 ? ',' : ''}${batch.map(([item]) => item).join(',')}`;
        count(batch.length);
      }
      yield `],"total_groups":${rows},"position":${JSON.stringify(position)}}`;
    }
    await writeChunks(chunks(), out, options.signal);
  };
  return {
    position,
    async write(out) {
      if (format === 'json') await writeJson(out);
      else await writeTables(format, [tableOf(snapshot, plan, compiled)], out, { ...options, onRows: count });
      return rows;
    },
  };
}
