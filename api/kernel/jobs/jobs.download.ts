import Type from 'typebox';
import { openContent, recordDownload } from '../../../domain/kernel/files/files.store.ts';
import { missingResult, resultFile } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { OpenObject } from '../../../domain/kernel/shapes.ts';
import { EstateError } from '../../../platform/errors.ts';
import { routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { fileHeaders, sendStoredFile } from '../files/files.send.ts';

const mediaType = [
  'text/csv',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'image/svg+xml',
  'application/vnd.apache.parquet',
  'application/zip',
  'application/xml',
  'application/octet-stream',
];
const File = Type.String({ contentMediaType: 'application/octet-stream' });

/** Download of a job's result file. */
export function registerDownloadRoute(app: App, { blobs }: Services): void {
  routesOf(app, { tag: 'Jobs' }).get('/api/v1/jobs/:id/result', {
    id: 'downloadJobResult',
    summary: 'Download the result file of a job',
    description:
      'For the owner of the job. Resume an interrupted download with `Range` and, to make sure that the file is the same, `If-Range` with its ETag. `Repr-Digest` is the SHA-256 of the complete file.',
    permission: 'login',
    permissionNote:
      "admin.events and admin.export_workspace for others' files; costs.view for files that may contain costs",
    answers: {
      200: {
        description: 'The file',
        schema: OpenObject,
        otherMedia: mediaType,
        headers: fileHeaders,
      },
      206: {
        description: 'The requested bytes',
        schema: File,
        mediaType: [...mediaType, 'application/json'],
        headers: fileHeaders,
      },
    },
    headers: ['Range', 'If-None-Match'],
    errors: ['job_result_missing', 'range_not_satisfiable'],
    handler: async ({ ctx, params, request, reply }) =>
      await sendStoredFile(request, reply, await resultFile(ctx, params.id), {
        open: (file, range) =>
          openContent(blobs, file.id, range).catch((error) => {
            throw error instanceof EstateError ? missingResult(params.id, 'succeeded') : error;
          }),
        opened: (file, range) => recordDownload(ctx, { job_id: params.id }, file, range),
      }),
  });
}
