import type { Metrics } from '../../../platform/metrics.ts';
import type { ReportFigure, ReportFigures } from '../../../reports/kernel/report.figures.ts';
import type { App } from '../../types.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** How this process has answered reports. */
    reportFigures: ReportFigures;
  }
}

/** What the metrics call the ways in which a report is answered. */
const outcomes = { kept: 'hits', stale: 'stale', waited: 'waits', computed: 'computed' } as const;

/** Hits, misses and ages of the reports' answers. */
export function registerReportMetrics(app: App, metrics: Metrics): void {
  const each = <L extends string>(
    read: (figure: ReportFigure) => { labels: Record<L, string>; value: number }[],
  ) => app.reportFigures.all().flatMap(read);
  metrics.counter(
    'estate_report_answers_total',
    'Answers of reports: as kept, older than asked for at most, waited for, computed',
    ['report', 'outcome'],
    () =>
      each((figure) =>
        Object.entries(outcomes).map(([outcome, member]) => ({
          labels: { report: figure.report, outcome },
          value: figure[member],
        })),
      ),
  );
  metrics.counter('estate_report_seconds_total', 'Time that computing reports took', ['report'], () =>
    each((figure) => [{ labels: { report: figure.report }, value: figure.seconds }]),
  );
  metrics.gauge('estate_report_age_seconds', 'Age of the report given last', ['report'], async () =>
    each((figure) => [{ labels: { report: figure.report }, value: figure.age }]),
  );
}
