import Type from 'typebox';
import { isPicture, pictureOptions } from '../../../domain/inventory/reports/report.options.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { SETTINGS_TOPIC } from '../../../domain/kernel/settings/settings.read.ts';
import {
  Choice,
  itemComponent,
  Nullable,
  object,
  Position,
  Timestamp,
} from '../../../domain/kernel/shapes.ts';
import { figureSchemas } from '../../../reports/inventory/kpis/kpis.figures.ts';
import { streamKpiFile } from '../../../reports/inventory/kpis/kpis.files.ts';
import { kpiChart, readKpiSeries } from '../../../reports/inventory/kpis/kpis.series.ts';
import { KPI_TOPIC, listKpiSnapshots } from '../../../reports/inventory/kpis/kpis.snapshots.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import { fileMediaTypes } from '../../../reports/kernel/report.formats.ts';
import { chartWorkspaceOf, dayOf, paramsLine } from '../../../reports/kernel/report.rendering.ts';
import type { ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { clientGone } from '../../gone.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import {
  acceptedFormat,
  disposition,
  formats,
  mediaOf,
  pictureOptionsOf,
  sendPicture,
} from './report.file.ts';

const KpiSnapshotSchema = itemComponent('KpiSnapshot', {
  slot: Timestamp,
  position: Nullable(Position),
  metrics: Nullable(object(figureSchemas)),
  taken_at: Nullable(Timestamp),
});

/** The time series of the key figures. */
export function registerKpiRoutes(app: App, services: Services, runner: ReportRunner): void {
  const routes = routesOf(app, { tag: 'Reports' });

  routes.get('listKpiSnapshots', '/api/v1/reports/kpis', {
    summary: 'List the stored snapshots of the key figures, newest first',
    description:
      'With `every`, the last snapshot of each interval; in an interval without a snapshot all members except `slot` are null. As CSV or workbook, by `Accept`: the complete period, oldest first. As a chart: the complete period, with gaps in the lines where no snapshot was stored.',
    permission: 'reports.ea_dashboard',
    permissionNote: 'inventory.view, since the figures include all cards',
    headers: ['Accept', 'Accept-Language'],
    errors: ['not_acceptable', 'too_many_requests'],
    query: listQuery(['slot'], 'slot', {
      ...pictureOptions,
      from: Type.Optional(Type.String({ format: 'date-time' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Not included' })),
      every: Type.Optional(
        Choice(
          ['day', 'week', 'month', 'year'],
          'Intervals in UTC, from the first snapshot to the last; `slot` is the beginning of each',
        ),
      ),
    }),
    responses: {
      200: {
        description: 'Snapshots',
        schema: listResponse(KpiSnapshotSchema),
        otherMedia: formats.slice(1).map(mediaOf),
        headers: ['Vary'],
      },
    },
    handler: async ({ ctx, query, request, reply }) => {
      requirePermission(ctx.caller, 'inventory.view');
      const format = acceptedFormat(request);
      reply.header('vary', 'Accept');
      const { theme, width, ...list } = query;
      const options = pictureOptionsOf(request, reply, { theme, width }, format);
      if (format === 'json') return sendJson(reply, await listKpiSnapshots(ctx, list));
      const { from, to } = list;
      if (!isPicture(format)) {
        reply.header('content-type', fileMediaTypes[format]).header('cache-control', 'no-store');
        return reply
          .header('content-disposition', disposition('kpis', format))
          .send(await streamKpiFile(services, ctx, list, format));
      }
      const today = dayOf(undefined);
      const settings = request.topics.get(SETTINGS_TOPIC) ?? 0;
      const { values } = await services.settings.at(settings, services.db);
      const key = [
        'kpis',
        request.topics.get(KPI_TOPIC) ?? 0,
        settings,
        from,
        to,
        format,
        today,
        options.theme,
        options.width,
        options.language,
      ].join(':');
      const picture = await runner.derive(
        key,
        async (signal) => {
          const chart = kpiChart(await readKpiSeries(ctx, from, to), options);
          return await render(
            {
              chart,
              workspace: chartWorkspaceOf(values, options),
              format,
              options,
              notes: { line: paramsLine({ from, to }, options), day: today },
            },
            { signal, user: ctx.caller.userId },
          );
        },
        clientGone(reply),
      );
      return sendPicture(reply, 'kpis', picture, format);
    },
  });
}
