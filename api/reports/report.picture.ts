import type { FastifyReply } from 'fastify';
import type { SettingValues } from '../../domain/settings/settings.defaults.ts';
import type { ChartContext } from '../../reports/charts/charts.labels.ts';
import { renderChart } from '../../reports/charts/charts.render.ts';
import type { ReportAnswer, ReportRunner } from '../../reports/report.runner.ts';
import type { Report } from '../../reports/report.ts';

/** Media type of pictures. */
export const SVG = 'image/svg+xml';

/**
 * What tells the pictures of one answer apart: labels, currency and the form of dates, and the day.
 * @param today `YYYY-MM-DD`
 */
export const pictureVersion = (topics: ReadonlyMap<string, number>, today: string): string =>
  `${topics.get('metamodel') ?? 0}-${topics.get('settings') ?? 0}-${today}`;

interface Asked {
  params: Record<string, unknown>;
  answer: ReportAnswer;
  /** Names the picture. */
  etag: string;
  look: ChartContext & { values: SettingValues };
}

/** Answers with the picture of a report, drawn once for all who ask. */
export async function sendPicture(
  reply: FastifyReply,
  runner: ReportRunner,
  report: Report,
  { params, answer, etag, look }: Asked,
): Promise<FastifyReply> {
  const svg = await runner.derive(`${report.name}:${etag}`, async () => {
    const { currency, date_format: dateFormat } = look.values;
    const chart = report.chart!(JSON.parse(answer.body.toString()), params, look);
    return Buffer.from(await renderChart(chart, { currency, dateFormat }));
  });
  return reply
    .header('content-type', `${SVG}; charset=utf-8`)
    .header('content-disposition', `inline; filename="${report.name}.svg"`)
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .send(svg);
}
