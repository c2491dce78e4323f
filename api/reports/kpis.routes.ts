import Type from 'typebox';
import type { Services } from '../../domain/services.ts';
import { SETTINGS_TOPIC } from '../../domain/settings/settings.state.ts';
import { kpiChart, readKpiSeries } from '../../reports/kpis/kpis.series.ts';
import { KPI_TOPIC, listKpiSnapshots } from '../../reports/kpis/kpis.snapshots.ts';
import { render } from '../../reports/rendering/rendering.queue.ts';
import { workspaceLook } from '../../reports/report.look.ts';
import type { ReportRunner } from '../../reports/report.runner.ts';
import { acceptedMedia } from '../accept.ts';
import { clientGone } from '../gone.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { KpiSnapshotSchema } from '../schemas/reports.ts';
import type { App } from '../types.ts';
import { mediaTypes, sendPicture } from './report.file.ts';

/** The series of the key figures. */
export function registerKpiRoutes(app: App, services: Services, runner: ReportRunner): void {
  app.addSchema(KpiSnapshotSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/reports/kpis',
    id: 'listKpiSnapshots',
    tag: 'Reports',
    summary: 'List the stored snapshots of the key figures, newest first',
    description:
      'As a picture, by `Accept`: the whole period, with lines that are broken where no snapshot was stored.',
    permission: 'reports.ea_dashboard',
    headers: ['Accept'],
    errors: ['not_acceptable'],
    query: listQuery(['slot'], 'slot', {
      from: Type.Optional(Type.String({ format: 'date-time' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Not included' })),
    }),
    answers: {
      200: {
        description: 'Snapshots',
        schema: listAnswer(Type.Ref('KpiSnapshot#')),
        otherMedia: [mediaTypes.svg],
        headers: ['Vary'],
      },
    },
    handler: async ({ ctx, query, request, reply }) => {
      const media = acceptedMedia(request.headers.accept, [mediaTypes.json, mediaTypes.svg]);
      reply.header('vary', 'Accept');
      if (media === mediaTypes.json) return sendJson(reply, await listKpiSnapshots(ctx, query));
      const { from, to } = query;
      const settings = request.topics.get(SETTINGS_TOPIC) ?? 0;
      const { values } = await services.settings.at(settings, services.db);
      const key = ['kpis', request.topics.get(KPI_TOPIC) ?? 0, settings, from, to].join(':');
      const svg = await runner.derive(
        key,
        async (signal) => {
          const chart = kpiChart(await readKpiSeries(ctx, from, to));
          return await render({ make: 'chart', chart, workspace: workspaceLook(values) }, { signal });
        },
        clientGone(reply),
      );
      return sendPicture(reply, 'kpis', svg);
    },
  });
}
