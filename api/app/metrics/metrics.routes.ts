import Type from 'typebox';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import { countJobs, oldestWaitingSeconds } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { registerReportMetrics } from '../../inventory/reports/reports.metrics.ts';
import { routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { registerAiMetrics } from './ai.metrics.ts';

/** Metrics of this process, of jobs and of the change feed, for Prometheus. */
export function registerMetricsRoute(app: App, { db }: Services): void {
  const routes = routesOf(app, { tag: 'Health' });

  const metrics = createMetrics();
  metrics.gauge('estate_jobs', 'Jobs by kind and state', ['kind', 'status'], async () =>
    (await countJobs(db)).map(({ kind, status, count }) => ({ labels: { kind, status }, value: count })),
  );
  metrics.gauge('estate_jobs_oldest_waiting_seconds', 'Age of the oldest job that is due', [], async () => [
    { labels: {}, value: await oldestWaitingSeconds(db) },
  ]);
  metrics.gauge('estate_feed_position', 'Newest position of the change feed', [], async () => [
    { labels: {}, value: (await feedEnds(db)).newest },
  ]);
  registerAiMetrics(metrics, { db });
  registerReportMetrics(app, metrics);
  app.addHook('onResponse', (request, reply, done) => {
    // unknown paths share one label, or a client could create an unlimited number of series
    const route = request.routeOptions.url ?? 'none';
    metrics.observeRequest(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.addHook('onClose', async () => metrics.close());

  routes.get('readMetrics', '/metrics', {
    summary: 'Read the metrics of this process, of jobs and of the change feed',
    description: 'In the Prometheus text format. Each API process has its own metrics.',
    permission: 'admin.settings',
    responses: { 200: { description: 'Figures', schema: Type.String(), mediaType: 'text/plain' } },
    handler: async ({ reply }) =>
      reply
        .header('content-type', metrics.contentType)
        .header('cache-control', 'no-store')
        .send(await metrics.text()),
  });
}
