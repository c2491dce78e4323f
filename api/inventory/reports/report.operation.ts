import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  isPicture,
  type PictureOptions,
  pictureOptions,
  type ReportFormat,
} from '../../../domain/inventory/reports/report.options.ts';
import { type Ctx, matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import { POSITION_PATTERN } from '../../../domain/kernel/events/row-changes.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { SETTINGS_TOPIC } from '../../../domain/kernel/settings/settings.read.ts';
import { OptionalText, object } from '../../../domain/kernel/shapes.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { RenderContext } from '../../../reports/kernel/rendering/rendering.types.ts';
import { reportRequest } from '../../../reports/kernel/report.cards.ts';
import { isComplete, positionOf } from '../../../reports/kernel/report.compute.ts';
import { fileMediaTypes, isZip } from '../../../reports/kernel/report.formats.ts';
import { startReport } from '../../../reports/kernel/report.job.ts';
import { waitForPosition } from '../../../reports/kernel/report.position.ts';
import { dayOf, renderContextOf } from '../../../reports/kernel/report.rendering.ts';
import { type RangeQuery, rangeParams } from '../../../reports/kernel/report.rows.ts';
import type { ReportKey, ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { openReportStream } from '../../../reports/kernel/report.stream.ts';
import { checkReport, type Report, type ReportRequest } from '../../../reports/kernel/report.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { acceptedEncoding, COMPRESSED_FROM, compressBody, setEncoding } from '../../plugins/compression.ts';
import { preferredJob, prefersAsync, sendPreferredJob } from '../../prefer.ts';
import type { App } from '../../types.ts';
import {
  acceptedFormat,
  disposition,
  formats,
  mediaOf,
  pictureOptionsOf,
  pictureVersion,
  REPORT_VARY,
  sendFile,
} from './report.file.ts';
import type { ResponseCache } from './report.response-cache.ts';

/** Suffix of the ETag by format. */
const suffix: Record<ReportFormat, string> = {
  json: '',
  csv: '-csv',
  xlsx: '-xlsx',
  svg: '-svg',
  png: '-png',
  pdf: '-pdf',
  pptx: '-pptx',
  chart: '-chart',
};

/** Query parameters of every report. */
const common = {
  scope: Type.Optional(
    Type.String({
      format: 'uuid',
      pattern: '^[0-9a-fA-F-]{36}$',
      description:
        'The id of a card: only this card, those below it, and cards of other types that are related to one of them',
    }),
  ),
  filter: OptionalText(4000, 'Only these cards, in the filter language; without it: all'),
  table: OptionalText(100, 'The table of the report that CSV contains; default: the main table'),
  min_position: Type.Optional(
    Type.String({
      pattern: POSITION_PATTERN,
      description:
        'A position of the change feed, such as `X-Position` of a write, that the response must include',
    }),
  ),
  max_staleness: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: 'Accept a cached response of at most this age in seconds, even if data has changed since',
    }),
  ),
};

/** Query parameter of reports over data with a history. */
const past = {
  as_of: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'A time in the past (RFC 3339), not before the oldest stored event: the inventory as of this time, with the current metamodel',
    }),
  ),
};

interface CommonQuery extends PictureOptions {
  as_of?: string;
  filter?: string;
  scope?: string;
  table?: string;
  min_position?: string;
  max_staleness?: number;
}

/** The query parameters of a report. */
const queryOf = ({ params, isPaged, isCurrentOnly, chart }: Report) =>
  object({
    ...params,
    ...(isPaged ? rangeParams : {}),
    ...common,
    ...(chart ? pictureOptions : {}),
    ...(isCurrentOnly ? {} : past),
  });

/** Registers the route of a report from its declaration. */
export function reportOperation(
  app: App,
  services: Services,
  runner: ReportRunner,
  responseCache: ResponseCache,
  report: Report,
): void {
  const routes = routesOf(app, { tag: 'Reports' });

  const offered = formats.filter((format) => !isPicture(format) || report.chart);
  const needs = [...(report.needs ?? []), report.permissionNote ?? []].flat();
  routes.get(report.id, `/api/v1/reports/${pathOf(report)}`, {
    summary: report.summary,
    ...(report.description ? { description: report.description } : {}),
    permission: report.permission,
    ...(report.scope ? { scope: report.scope } : {}),
    ...(report.module ? { module: report.module } : {}),
    ...(needs.length > 0 ? { permissionNote: needs.join('; ') } : {}),
    query: queryOf(report),
    headers: ['Accept', ...(report.chart ? (['Accept-Language'] as const) : []), 'If-None-Match', 'Prefer'],
    errors: [
      'not_acceptable',
      'position_ahead',
      'query_too_heavy',
      'too_many_requests',
      ...(report.isCurrentOnly ? [] : (['as_of_expired'] as const)),
      ...(report.isPaged ? (['cursor_mismatch'] as const) : []),
      ...(report.errors ?? []),
    ],
    responses: {
      200: {
        description: report.summary,
        schema: report.result,
        otherMedia: offered.slice(1).map(mediaOf),
        headers: ['Age', 'ETag', 'Vary', 'X-Position'],
      },
      202: preferredJob,
    },
    early: (request, reply, done) => {
      if (!responseCache.trySend(request, reply, report)) done();
    },
    handler: async ({ query, request, reply, ...input }) => {
      const { as_of, filter, scope, table, min_position, max_staleness, theme, width, ...others } =
        query as CommonQuery & RangeQuery & Record<string, unknown>;
      const { cursor, page_size, detail, ...params } = others;
      const format = acceptedFormat(request, offered);
      refuseOther(format, { table, cursor, detail });
      reply.header('vary', REPORT_VARY);
      const options = pictureOptionsOf(request, reply, { theme, width }, format);
      let { ctx } = input;
      let { topics } = request;
      if (min_position !== undefined) {
        await waitForPosition(services.db, services.signals, Number(min_position));
        topics = (await services.sessions.read(null)).topics;
        ctx = { ...ctx, metamodel: await ctx.metamodels.at(topics.get('metamodel') ?? 0, services.db) };
      }
      checkReport(report, ctx, params);
      const asOf = as_of === undefined ? undefined : parseTime(as_of);
      const range = hasRange(report, format) ? { cursor, page_size, detail } : undefined;
      const asked = await reportRequest(ctx, report, params, { filter, scope, asOf, format, range });
      const key = runner.keyFor(ctx, topics, asked);
      const today = dayOf(asOf);
      // what a format's response depends on besides the data
      const part = isPicture(format) ? pictureVersion(topics, today, options) : table;
      reply.header('cache-control', cacheControl(max_staleness));
      if (isKnown(request, key, format, part)) {
        return reply
          .code(304)
          .header('etag', etagOf(key, format, part))
          .send();
      }
      if (prefersAsync(request)) {
        const payload = {
          report: report.name,
          params,
          ...given({ filter, scope, as_of, table, ...options }),
          format,
        };
        return sendPreferredJob(reply, await startReport(ctx, payload));
      }
      if ((format === 'csv' || format === 'xlsx') && report.stream?.applies(params)) {
        const { out, position } = await openReportStream(
          services.db,
          ctx,
          withoutRange(asked),
          format,
          table,
        );
        return reply
          .header('etag', etagOf(key, format, table))
          .header('content-type', fileMediaTypes[format])
          .header('content-disposition', disposition(report.name, format, table))
          .header('x-position', position)
          .send(out);
      }
      const found = await runner.run(ctx, key, asked, max_staleness);
      const etag = etagOf(found.key, format, part);
      reply.header('etag', etag);
      if (!report.topics && isKnown(request, found.key, format, part)) return reply.code(304).send();
      if (
        format === 'json' &&
        report.topics &&
        !(as_of || filter || scope || min_position || max_staleness)
      ) {
        responseCache.store(request, report, key, etag);
      }
      if (found.age !== undefined) reply.header('age', String(found.age));
      if (format === 'json') return await sendResult(request, reply, runner, found);
      // files and charts have all rows, which the first ones often are
      const { body } = isComplete(found.body) ? found : await runAll(runner, ctx, topics, asked);
      reply.header('x-position', positionOf(body));
      let look: RenderContext | undefined;
      if (isPicture(format)) {
        const { values } = await services.settings.at(topics.get(SETTINGS_TOPIC) ?? 0, services.db);
        look = renderContextOf(values, ctx.metamodel, today, options);
      }
      const rendered = { report: report.name, params, body, format, table, look, said: asked.said };
      return await sendFile(reply, runner, etag, rendered, ctx.caller.userId);
    },
  });
}

/** Sends the JSON of a report; a compressed form is cached beside it. */
async function sendResult(
  request: FastifyRequest,
  reply: FastifyReply,
  runner: ReportRunner,
  { body, key }: { body: Buffer; key: ReportKey },
): Promise<FastifyReply> {
  const encoding = body.length < COMPRESSED_FROM ? undefined : acceptedEncoding(request);
  if (encoding === undefined) return sendJson(reply, body);
  const compressed = await runner.derive(`${key.cacheKey}:${encoding}`, () => compressBody(body, encoding));
  return sendJson(setEncoding(reply, encoding), compressed);
}

/** @throws EstateError 422 for parameters that only another format has; files and charts cover all rows. */
function refuseOther(
  format: ReportFormat,
  { table, cursor, detail }: Partial<CommonQuery & RangeQuery>,
): void {
  const refuse = (name: string, media: string) =>
    invalidField(name, 'not_offered', `is only supported for ${media}`);
  if (table !== undefined && format !== 'csv') throw refuse('table', 'text/csv');
  if (format === 'json') return;
  if (cursor) throw refuse('cursor', 'application/json');
  if (detail === 'aggregate') throw refuse('detail', 'application/json');
}

/** Whether a response has a range of rows; a file is made from the first one where that can be complete. */
const hasRange = ({ isPaged, omitsGroups }: Report, format: ReportFormat): boolean =>
  isPaged === true && (format === 'json' || !omitsGroups);

/** The request for all rows. */
const withoutRange = ({ range: _, ...request }: ReportRequest): ReportRequest => request;

/** Computes all rows of a paged report. */
async function runAll(
  runner: ReportRunner,
  ctx: Ctx,
  topics: ReadonlyMap<string, number>,
  asked: ReportRequest,
): Promise<{ body: Buffer }> {
  const request = withoutRange(asked);
  return await runner.run(ctx, runner.keyFor(ctx, topics, request), request);
}

/** The path of a report below `/api/v1/reports/`. */
const pathOf = ({ name, module }: Report): string =>
  module ? name.replace(`${module}-`, `${module}/`) : name;

/** Removes members without a value. */
function given<T extends Record<string, unknown>>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

/** @throws EstateError 422 for a time that the format allows and that does not exist, such as a leap second. */
function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidField('as_of', 'format', 'is not a valid time');
  return time;
}

function cacheControl(maxStaleness: number | undefined): string {
  return maxStaleness ? `private, max-age=${maxStaleness}` : 'private, no-cache';
}

/** Weak for zips: they contain their creation time, so that only their content is the same. */
function etagOf({ tag }: ReportKey, format: ReportFormat, part: string | undefined): string {
  const etag = `"${tag}${suffix[format]}${part === undefined ? '' : `-${part}`}"`;
  return isZip(format) ? `W/${etag}` : etag;
}

/** Whether the client has the current response, which the cache key shows without computing anything. */
function isKnown(
  request: FastifyRequest,
  key: ReportKey,
  format: ReportFormat,
  part: string | undefined,
): boolean {
  const header = request.headers['if-none-match'];
  return header !== undefined && matchesEtag(etagOf(key, format, part), parseEtags(header));
}
