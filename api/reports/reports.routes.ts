import Type, { type TSchema } from 'typebox';
import type { Services } from '../../domain/services.ts';
import { listKpiSnapshots } from '../../reports/kpis/kpis.snapshots.ts';
import { createReportRunner } from '../../reports/report.runner.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { KpiSnapshotSchema } from '../schemas/reports.ts';
import type { App } from '../types.ts';
import { reportOperation } from './report.operation.ts';
import { reports } from './reports.list.ts';

/** The reports, and the series of the key figures. */
export function registerReportRoutes(app: App, services: Services): void {
  for (const schema of [...reports.map(({ answer }) => answer), KpiSnapshotSchema] as TSchema[]) {
    app.addSchema(schema);
  }
  const runner = createReportRunner(services.cache, services.config.redisUrl !== undefined);
  app.decorate('reportFigures', runner.figures);
  for (const entry of reports) reportOperation(app, services, runner, entry);

  operation(app, {
    method: 'GET',
    url: '/api/v1/reports/kpis',
    id: 'listKpiSnapshots',
    tag: 'Reports',
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
