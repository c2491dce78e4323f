import { isPicture, pictureOptions } from '../../../domain/inventory/reports/report.options.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { queryPicture, startQuery, streamQueryFile } from '../../../reports/analysis/query/query.files.ts';
import { runQuery } from '../../../reports/analysis/query/query.run.ts';
import { fileMediaTypes } from '../../../reports/kernel/report.formats.ts';
import { clientGone } from '../../gone.ts';
import { sendJson } from '../../json.ts';
import { sendStream } from '../../kernel/files/stream.send.ts';
import { routesOf } from '../../operation.ts';
import { preferredJob, prefersAsync, sendPreferredJob } from '../../prefer.ts';
import type { App } from '../../types.ts';
import { QueryResultSchema, ReportQueryBody } from './query.schemas.ts';
import { acceptedFormat, formats, mediaOf, pictureOptionsOf, sendPicture } from './report.file.ts';

/** Ad-hoc queries. */
export function registerQueryRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Reports' });

  routes.post('queryInventory', '/api/v1/reports/query', {
    summary: 'Group, count and sum cards by any field',
    description:
      'Fields are paths of the filter language, and `phase` for the lifecycle phase on a day. A card with several values of a dimension counts once in the group of each value: sums and averages include every card (or, for a field of a related card or of a relation, each of those) once per group. JSON is paged; CSV and workbooks, by `Accept`, contain every group; a chart shows the largest groups and combines the others, or the first `page_size`. With `Prefer: respond-async` a job writes the file, without the time limit of a request.',
    permission: 'reports.ea_dashboard',
    permissionNote:
      'costs.view if the query reads costs; relations.view if it reads relations; stakeholders.view if it reads stakeholders',
    headers: ['Accept', 'Accept-Language'],
    query: object(pictureOptions),
    body: ReportQueryBody,
    errors: ['query_too_heavy', 'too_many_requests', 'as_of_expired', 'not_acceptable'],
    responses: {
      200: {
        description: 'The groups',
        schema: QueryResultSchema,
        otherMedia: formats.slice(1).map(mediaOf),
        headers: ['Vary'],
      },
      202: preferredJob,
    },
    handler: async ({ ctx, body, query: given, request, reply }) => {
      const format = acceptedFormat(request);
      reply.header('vary', 'Accept');
      const options = pictureOptionsOf(request, reply, given, format);
      const { page, page_size, ...query } = body;
      if (prefersAsync(request))
        return sendPreferredJob(reply, await startQuery(ctx, { query, format, ...options }));
      reply.header('cache-control', 'no-store');
      if (format === 'json') return sendJson(reply, await runQuery(ctx, query, { page, page_size }));
      if (isPicture(format)) {
        const how = { signal: clientGone(reply), format, options, limit: page_size };
        const { picture, position } = await queryPicture(services, ctx, query, how);
        return sendPicture(reply.header('x-position', position), 'query', picture, format);
      }
      const started = await streamQueryFile(services, ctx, query, format);
      return sendStream(reply, { ...started, mediaType: fileMediaTypes[format] });
    },
  });
}
