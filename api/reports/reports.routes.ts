import Type, { type TSchema } from 'typebox';
import type { Services } from '../../domain/services.ts';
import { dashboardReport } from '../../reports/dashboard/dashboard.report.ts';
import { listKpiSnapshots } from '../../reports/kpis/kpis.snapshots.ts';
import { createReportRunner } from '../../reports/report.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { DashboardSchema, KpiSnapshotSchema } from '../schemas/reports.ts';
import type { App } from '../types.ts';

const tag = 'Reports';

/** The dashboard and the series of its figures. */
export function registerReportRoutes(app: App, services: Services): void {
  for (const schema of [DashboardSchema, KpiSnapshotSchema] as TSchema[]) app.addSchema(schema);
  const runner = createReportRunner(services.cache, services.config.redisUrl !== undefined);

  operation(app, {
    method: 'GET',
    url: '/api/v1/reports/dashboard',
    id: 'readDashboard',
    tag,
    summary: 'Read the key figures of the landscape',
    description:
      'Never stale: a request sent after a change was answered shows it. `position` is the place in the change feed that the figures include.',
    permission: 'reports.ea_dashboard',
    answers: { 200: { description: 'The dashboard', schema: Type.Ref('Dashboard#') } },
    handler: async ({ ctx, request, reply }) => {
      const { body, etag } = await runner.run(ctx, request.topics, dashboardReport, {});
      return sendJson(reply.header('etag', etag), body);
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/reports/kpis',
    id: 'listKpiSnapshots',
    tag,
    summary: 'List the stored snapshots of the key figures, newest first',
    permission: 'reports.ea_dashboard',
    query: listQuery(['slot'], 'slot', {
      from: Type.Optional(Type.String({ format: 'date-time' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Not included' })),
    }),
    answers: { 200: { description: 'Snapshots', schema: listAnswer(Type.Ref('KpiSnapshot#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listKpiSnapshots(ctx, query)),
  });
}
