import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  isPicture,
  type PictureFormat,
  type PictureOptions,
  pictureLanguages,
  type ReportFormat,
} from '../../../domain/inventory/reports/report.options.ts';
import { invalidField } from '../../../platform/errors.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import type { RenderedReport } from '../../../reports/kernel/rendering/rendering.types.ts';
import { fileMediaTypes } from '../../../reports/kernel/report.formats.ts';
import type { ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { acceptedMedia } from '../../accept.ts';
import { clientGone } from '../../gone.ts';
import { negotiateLanguage } from '../../language.ts';

type FileFormat = Exclude<ReportFormat, 'json'>;

/** The formats of reports. */
export const formats = Object.keys(fileMediaTypes) as ReportFormat[];

/** The request headers on which the response of a report depends. */
export const REPORT_VARY = 'Accept, Accept-Encoding';

/** The media type of a format without its character set. */
export const mediaOf = (format: ReportFormat): string => fileMediaTypes[format].split(';')[0]!;

/** The format that a client accepts. @throws EstateError `not_acceptable`. */
export function acceptedFormat({ headers }: FastifyRequest, offered = formats): ReportFormat {
  const media = offered.map(mediaOf);
  return offered[media.indexOf(acceptedMedia(headers.accept, media))]!;
}

/**
 * The version of a picture besides its data: labels, currency, date format, the day, and how it is drawn, in which language.
 * @param today `YYYY-MM-DD`
 */
export const pictureVersion = (
  topics: ReadonlyMap<string, number>,
  today: string,
  { theme, width, language }: PictureOptions,
): string =>
  [topics.get('metamodel') ?? 0, topics.get('settings') ?? 0, today, theme ?? [], width ?? [], language ?? []]
    .flat()
    .join('-');

/**
 * The options of a picture, with the language of `Accept-Language`; the response depends on this header then.
 * @throws EstateError 422 if another format has them.
 */
export function pictureOptionsOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { theme, width }: PictureOptions,
  format: ReportFormat,
): PictureOptions {
  const given = Object.entries({ theme, width }).find(([, value]) => value !== undefined)?.[0];
  if (given !== undefined && !isPicture(format)) {
    throw invalidField(given, 'not_offered', 'is only supported for pictures and slides');
  }
  if (!isPicture(format)) return {};
  const language = negotiateLanguage(request, reply, new Set(pictureLanguages));
  return { theme, width, language: pictureLanguages.find((one) => one === language) };
}

/** The value of `Content-Disposition`. */
export function disposition(report: string, format: FileFormat, table?: string): string {
  const ending = format === 'chart' ? 'chart.json' : format;
  const name = `${report}${table === undefined ? '' : `-${table}`}.${ending}`;
  // browsers do not show PDF under the policy of pictures
  const isInline = isPicture(format) && format !== 'pptx' && format !== 'pdf';
  return `${isInline ? 'inline' : 'attachment'}; filename="${name}"`;
}

/**
 * Sends a file or chart. It is rendered in a worker thread, once for concurrent requests.
 * @param etag identifies the rendering.
 */
export async function sendFile(
  reply: FastifyReply,
  runner: ReportRunner,
  etag: string,
  rendered: RenderedReport & { format: Exclude<RenderedReport['format'], 'rows'> },
  user: string | null,
): Promise<FastifyReply> {
  const { report, format, table } = rendered;
  const made = await runner.derive(
    `${report}:${etag}`,
    (signal) => render(rendered, { signal, user }),
    clientGone(reply),
  );
  if (isPicture(format)) return sendPicture(reply, report, made, format);
  return reply
    .header('content-type', fileMediaTypes[format])
    .header('content-disposition', disposition(report, format, table))
    .send(made);
}

/** Sends a picture with a policy that keeps browsers from running scripts in it. */
export function sendPicture(
  reply: FastifyReply,
  name: string,
  picture: Buffer,
  format: PictureFormat,
): FastifyReply {
  return reply
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header('content-type', fileMediaTypes[format])
    .header('content-disposition', disposition(name, format))
    .send(picture);
}
