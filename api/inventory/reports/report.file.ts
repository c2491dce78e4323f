import type { FastifyReply } from 'fastify';
import type { ReportFormat } from '../../../domain/inventory/reports/report.options.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import { type RenderedAnswer, renderingOf } from '../../../reports/kernel/report.rendering.ts';
import type { ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { clientGone } from '../../gone.ts';

/** Media types of the formats of reports. */
export const mediaTypes = {
  json: 'application/json',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  svg: 'image/svg+xml',
} as const satisfies Record<ReportFormat, string>;

type FileFormat = Exclude<ReportFormat, 'json'>;

/** The value of `Content-Type`. */
export const contentTypes: Record<ReportFormat, string> = {
  json: `${mediaTypes.json}; charset=utf-8`,
  csv: `${mediaTypes.csv}; charset=utf-8`,
  xlsx: mediaTypes.xlsx,
  svg: `${mediaTypes.svg}; charset=utf-8`,
};

/**
 * The version of a chart besides its data: labels, currency, date format, and the day.
 * @param today `YYYY-MM-DD`
 */
export const pictureVersion = (topics: ReadonlyMap<string, number>, today: string): string =>
  `${topics.get('metamodel') ?? 0}-${topics.get('settings') ?? 0}-${today}`;

/** The value of `Content-Disposition`. */
export function disposition(report: string, format: FileFormat, table?: string): string {
  const name = `${report}${table === undefined ? '' : `-${table}`}.${format}`;
  return `${format === 'svg' ? 'inline' : 'attachment'}; filename="${name}"`;
}

/**
 * Sends a file or chart. It is rendered in a worker thread, once for concurrent requests.
 * @param etag identifies the rendering.
 */
export async function sendFile(
  reply: FastifyReply,
  runner: ReportRunner,
  etag: string,
  answer: RenderedAnswer,
  user: string | null,
): Promise<FastifyReply> {
  const { report, format, table } = answer;
  const made = await runner.derive(
    `${report}:${etag}`,
    (signal) => render(renderingOf(answer), { signal, user }),
    clientGone(reply),
  );
  if (format === 'svg') return sendPicture(reply, report, made);
  return reply
    .header('content-type', contentTypes[format])
    .header('content-disposition', disposition(report, format, table))
    .send(made);
}

/** Sends a chart with a policy that keeps browsers from running scripts in it. */
export function sendPicture(reply: FastifyReply, name: string, svg: Buffer): FastifyReply {
  return reply
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header('content-type', contentTypes.svg)
    .header('content-disposition', disposition(name, 'svg'))
    .send(svg);
}
