import type { Metrics } from '../../../platform/metrics.ts';
import type { ReportFigure, ReportFigures } from '../../../reports/kernel/report.runner.ts';
import type { App } from '../../types.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts of the reports that this process has sent. */
    reportFigures: ReportFigures;
  }
}

/** Values of the metric's `outcome` label. */
const outcomes = { cached: 'hits', stale: 'stale', shared: 'waits', computed: 'computed' } as const;

/** Registers cache hits, misses and ages of reports. */
export function registerReportMetrics(app: App, metrics: Metrics): void {
  const each = <L extends string>(
    read: (figure: ReportFigure) => { labels: Record<L, string>; value: number }[],
  ) => app.reportFigures.all().flatMap(read);
  metrics.counter(
    'estate_report_responses_total',
    'Report responses: cached, stale within max_staleness, shared with a concurrent request, computed',
    ['report', 'outcome'],
    () =>
      each((figure) =>
        Object.entries(outcomes).map(([outcome, member]) => ({
          labels: { report: figure.report, outcome },
          value: figure[member],
        })),
      ),
  );
  metrics.counter('estate_report_seconds_total', 'Time spent computing reports', ['report'], () =>
    each((figure) => [{ labels: { report: figure.report }, value: figure.seconds }]),
  );
  metrics.gauge(
    'estate_report_age_seconds',
    'Age of the last stale report that was sent',
    ['report'],
    async () => each((figure) => [{ labels: { report: figure.report }, value: figure.age }]),
  );
}
