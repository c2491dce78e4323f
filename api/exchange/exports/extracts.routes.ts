import Type from 'typebox';
import { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { readManifest, startExport } from '../../../reports/exchange/extraction/exports.job.ts';
import { extractRequest, streamExport } from '../../../reports/exchange/extraction/exports.stream.ts';
import { mediaTypes } from '../../../reports/exchange/extraction/extraction.manifest.ts';
import { routesOf } from '../../operation.ts';
import { prefersAsync } from '../../prefer.ts';
import { ManifestSchema } from '../../schemas/exports.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { sendStream } from './exports.send.ts';

const { properties } = ExportRequest;
const mediaType = Object.values(mediaTypes).map((type) => type.replace(/;.*/, ''));

const ExtractQuery = object({
  format: Type.Union(properties.format.anyOf, {
    default: 'ndjson',
    description: 'Of the file: Parquet and NDJSON keep the types of values, CSV and XLSX suit people',
  }),
  types: Type.Optional(
    Type.String({
      maxLength: 4000,
      description: 'Comma-separated card types, or relation types for relations; absent: all',
    }),
  ),
  filter: properties.filter,
  columns: Type.Optional(
    Type.String({
      maxLength: 8000,
      description: 'Comma-separated columns in order; absent: all of the profile',
    }),
  ),
  profile: properties.profile,
  neutralise: properties.neutralise,
  after: properties.after,
});

const kinds = [
  { kind: 'cards', id: 'extractCards', permissionNote: 'inventory.view for what has changed' },
  {
    kind: 'relations',
    id: 'extractRelations',
    permissionNote: 'relations.view; inventory.view for what has changed',
  },
] as const;

/** Extractions that are streamed at once, whole or what has changed, and the manifests of those made by jobs. */
export function registerExtractRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports' });

  for (const { kind, id, permissionNote } of kinds) {
    routes.get(`/api/v1/extracts/${kind}`, {
      id,
      summary: `Extract ${kind} at once, whole or what has changed since a position`,
      description:
        'The same rows as the export job’s, all of one moment. `X-Position` is the place in the change feed that they include: with it as `after`, the next extraction has the rows that may look different since and, marked `deleted` or `removed`, those that are gone. With `Prefer: respond-async` the same export is started as a job.',
      permission: 'inventory.export',
      permissionNote,
      query: ExtractQuery,
      answers: {
        200: { description: 'The rows', schema: Type.String(), mediaType },
        202: {
          description: 'The job that was started instead, as preferred',
          schema: StartedJobSchema,
        },
      },
      errors: ['position_expired'],
      handler: async ({ ctx, query, request, reply }) => {
        const asked = extractRequest({ ...query, kind });
        if (prefersAsync(request)) {
          const job = await startExport(ctx, asked);
          reply.code(202).header('location', job.links.self).header('preference-applied', 'respond-async');
          return reply.send(job);
        }
        return sendStream(reply, await streamExport(services, ctx, asked));
      },
    });
  }

  routes.get('/api/v1/exports/:id/manifest', {
    id: 'getExportManifest',
    summary: 'Download the manifest of an export job’s file',
    description:
      'What was asked for, the moment and feed position that the rows belong to, and of each table the columns with their types and the number of rows; of the file size and SHA-256. The same as the job’s `result`.',
    permission: 'login',
    permissionNote: "admin.events for others' jobs",
    answers: { 200: { description: 'The manifest', schema: ManifestSchema } },
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, reply }) => {
      const manifest = await readManifest(ctx, params.id);
      return reply
        .header('content-disposition', `attachment; filename="${manifest.file.name}.manifest.json"`)
        .send(manifest);
    },
  });
}
