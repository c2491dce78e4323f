import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { matchesEtag, parseEtags } from '../../domain/etag.ts';
import { POSITION_PATTERN } from '../../domain/events/events.types.ts';
import type { Services } from '../../domain/services.ts';
import { SETTINGS_TOPIC } from '../../domain/settings/settings.state.ts';
import { invalidField } from '../../platform/errors.ts';
import { activeCards, reportCards } from '../../reports/report.cards.ts';
import { tableNamed, writeReportCsv, writeReportXlsx } from '../../reports/report.formats.ts';
import { answerOf } from '../../reports/report.lines.ts';
import { reachPosition } from '../../reports/report.position.ts';
import type { ReportQuestion } from '../../reports/report.question.ts';
import type { AnswerName, ReportAnswer, ReportRunner } from '../../reports/report.runner.ts';
import { openReportStream } from '../../reports/report.stream.ts';
import type { Report } from '../../reports/report.ts';
import { acceptedMedia } from '../accept.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { closed } from '../schemas/common.ts';
import type { App } from '../types.ts';
import { pictureVersion, SVG, sendPicture } from './report.picture.ts';
import type { ReportEntry } from './reports.list.ts';

const JSON_TYPE = 'application/json';
const CSV = 'text/csv';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const formats = [JSON_TYPE, CSV, XLSX, SVG] as const;
type Format = (typeof formats)[number];

/** What tells the formats' ETags apart. */
const suffix: Record<Format, string> = { [JSON_TYPE]: '', [CSV]: '-csv', [XLSX]: '-xlsx', [SVG]: '-svg' };

const streamFormats = { [JSON_TYPE]: 'json', [CSV]: 'csv', [XLSX]: 'xlsx' } as const;

const contentTypes: Record<Exclude<Format, typeof SVG>, string> = {
  [JSON_TYPE]: `${JSON_TYPE}; charset=utf-8`,
  [CSV]: `${CSV}; charset=utf-8`,
  [XLSX]: XLSX,
};

/** Members of the query that every report takes. */
const common = {
  filter: Type.Optional(
    Type.String({ maxLength: 4000, description: 'Which cards, in the filter language; absent: all' }),
  ),
  table: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Which table of the report CSV holds; absent: the main one',
    }),
  ),
  min_position: Type.Optional(
    Type.String({
      pattern: POSITION_PATTERN,
      description:
        'A position of the change feed, such as `X-Position` of a write, that the answer has to include',
    }),
  ),
  max_staleness: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds: an answer that was computed no longer ago will do, whatever has changed since',
    }),
  ),
};

/** Taken by reports on what has a history. */
const past = {
  as_of: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'A moment in the past (RFC 3339), back to the oldest event kept: the landscape as it was then, under the metamodel of today',
    }),
  ),
};

interface CommonQuery {
  as_of?: string;
  filter?: string;
  table?: string;
  min_position?: string;
  max_staleness?: number;
}

/** Makes the route of a report from its declaration. */
export function reportOperation(
  app: App,
  services: Services,
  runner: ReportRunner,
  { report, answer }: ReportEntry,
): void {
  const offered = formats.filter((format) => format !== SVG || report.chart);
  operation(app, {
    method: 'GET',
    url: `/api/v1/reports/${report.name}`,
    id: report.id,
    tag: 'Reports',
    summary: report.summary,
    description: [report.description, cachingNote].filter(Boolean).join('\n\n'),
    permission: report.permission,
    ...(report.permissionNote ? { permissionNote: report.permissionNote } : {}),
    query: Type.Object({ ...report.params, ...common, ...(report.timeTravel ? past : {}) }, closed),
    headers: ['Accept', 'If-None-Match'],
    errors: [
      'not_acceptable',
      'position_ahead',
      ...(report.timeTravel ? (['as_of_expired'] as const) : []),
      ...(report.errors ?? []),
    ],
    answers: {
      200: {
        description: report.summary,
        schema: Type.Ref(`${(answer as { $id?: string }).$id}#`),
        otherMedia: offered.filter((format) => format !== JSON_TYPE),
        headers: ['Age', 'ETag', 'Vary'],
      },
    },
    handler: async ({ ctx: asked, query, request, reply }) => {
      const { as_of, filter, table, min_position, max_staleness, ...params } = query as CommonQuery &
        Record<string, unknown>;
      const format = acceptedMedia(request.headers.accept, offered);
      if (table !== undefined && format !== CSV) {
        throw invalidField('table', 'not_offered', 'is only offered for text/csv');
      }
      let ctx = asked;
      let { topics } = request;
      if (min_position !== undefined) {
        await reachPosition(services.db, services.signals, Number(min_position));
        topics = (await services.sessions.read(null)).topics;
        ctx = { ...ctx, metamodel: await ctx.metamodels.at(topics.get('metamodel') ?? 0, services.db) };
      }
      report.check?.(ctx, params);
      const question: ReportQuestion = {
        report,
        params,
        cards: await reportCards(ctx, filter),
        filtered: Boolean(filter),
        ...(as_of === undefined ? {} : { asOf: momentOf(as_of) }),
      };
      const name = runner.name(ctx, topics, question);
      const today = (question.asOf ?? new Date()).toISOString().slice(0, 10);
      // what a format's answer depends on besides the numbers
      const part = format === SVG ? pictureVersion(topics, today) : table;
      reply.header('vary', 'Accept').header('cache-control', cacheControl(max_staleness));
      if (isKnown(request, name, format, part)) {
        return reply
          .code(304)
          .header('etag', etagOf(name, format, part))
          .send();
      }
      if (format !== SVG && report.stream?.applies(params)) {
        const input = { ctx, params, cards: question.cards, visible: activeCards(ctx) };
        const out = await openReportStream(services.db, input, question, streamFormats[format], table);
        reply.header('etag', etagOf(name, format, table)).header('content-type', contentTypes[format]);
        if (format !== JSON_TYPE) reply.header('content-disposition', disposition(report, format, table));
        return reply.send(out);
      }
      const found = await runner.run(ctx, name, question, max_staleness);
      if (report.uncached && isKnown(request, found.name, format, part)) {
        return reply
          .code(304)
          .header('etag', etagOf(found.name, format, part))
          .send();
      }
      reply.header('etag', etagOf(found.name, format, part));
      if (found.age !== undefined) reply.header('age', String(found.age));
      if (format === SVG) {
        const settings = await services.settings.at(topics.get(SETTINGS_TOPIC) ?? 0, services.db);
        const look = { values: settings.values, metamodel: ctx.metamodel, today };
        return await sendPicture(reply, runner, report, {
          params,
          answer: found,
          etag: etagOf(found.name, format, part),
          look,
        });
      }
      return format === JSON_TYPE
        ? sendJson(reply, found.body)
        : sendTables(reply, report, params, found, format, table);
    },
  });
}

/** @throws EstateError 422 for what the format allows and no calendar holds, such as a leap second. */
function momentOf(text: string): Date {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw invalidField('as_of', 'format', 'is no moment');
  return moment;
}

const cachingNote =
  'Never stale: a request sent after a change was answered shows it. `position` is the place in the change feed that the numbers include. The same numbers as CSV, as a workbook or as a picture by `Accept`.';

function cacheControl(maxStaleness: number | undefined): string {
  return maxStaleness ? `private, max-age=${maxStaleness}` : 'private, no-cache';
}

/** A workbook carries the time of its making, so that only its content is the same. */
function etagOf({ tag }: AnswerName, format: Format, part: string | undefined): string {
  const etag = `"${tag}${suffix[format]}${part === undefined ? '' : `-${part}`}"`;
  return format === XLSX ? `W/${etag}` : etag;
}

/** Whether the client holds the answer already: that follows from the name, without computing anything. */
function isKnown(
  request: FastifyRequest,
  name: AnswerName,
  format: Format,
  part: string | undefined,
): boolean {
  const header = request.headers['if-none-match'];
  return header !== undefined && matchesEtag(etagOf(name, format, part), parseEtags(header));
}

function sendTables(
  reply: FastifyReply,
  report: Report,
  params: Record<string, unknown>,
  answer: ReportAnswer,
  format: Exclude<Format, typeof JSON_TYPE | typeof SVG>,
  table: string | undefined,
): FastifyReply {
  const tables = report.tables(answerOf(report, answer.body), params);
  const out = new PassThrough();
  const written =
    format === CSV ? writeReportCsv(tableNamed(tables, table), out) : writeReportXlsx(tables, out);
  // the stream is destroyed with the reason, which ends the reply
  written.catch(() => undefined);
  return reply
    .header('content-type', contentTypes[format])
    .header('content-disposition', disposition(report, format, table))
    .send(out);
}

function disposition(report: Report, format: typeof CSV | typeof XLSX, table: string | undefined): string {
  const suffix = table === undefined ? '' : `-${table}`;
  return `attachment; filename="${report.name}${suffix}.${streamFormats[format]}"`;
}
