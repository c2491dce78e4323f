import Type from 'typebox';
import { noteDownload, openContent } from '../../domain/kernel/files/files.store.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { closed, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { type RunFile, runFile } from '../../reports/exchange/schedules/extraction-runs.download.ts';
import { listRuns, readRun } from '../../reports/exchange/schedules/extraction-schedules.queries.ts';
import { fileHeaders, sendStoredFile } from '../files/files.send.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Imports and exports';
const permission = 'inventory.export';
const permissionNote = "admin.settings for others' schedules";
const Params = Type.Object({ id: Uuid, run_id: Uuid }, closed);

const media: Record<RunFile, string[]> = {
  file: [
    'text/csv',
    'application/x-ndjson',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.apache.parquet',
  ],
  manifest: ['application/json'],
};
const schemas = {
  file: Type.String({ contentMediaType: 'application/octet-stream' }),
  manifest: OpenObject,
};

/** What the runs of an extraction schedule came to, and their files. */
export function registerExtractionRunRoutes(app: App, services: Services): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/extraction-schedules/:id/runs',
    id: 'listExtractionRuns',
    tag,
    summary: 'List the runs of an extraction schedule, newest first',
    permission,
    permissionNote,
    params: IdParams,
    query: listQuery(['created_at', 'slot'], 'created_at', {}),
    answers: { 200: { description: 'Runs', schema: listAnswer(Type.Ref('ExtractionRun#')) } },
    handler: async ({ ctx, params, query, reply }) => sendJson(reply, await listRuns(ctx, params.id, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/extraction-schedules/:id/runs/:run_id',
    id: 'readExtractionRun',
    tag,
    summary: 'Read one run of an extraction schedule',
    permission,
    permissionNote,
    params: Params,
    answers: { 200: { description: 'The run', schema: Type.Ref('ExtractionRun#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRun(ctx, params.id, params.run_id)),
  });

  registerDownload('file', 'downloadExtractionFile', 'Download the file of a run');
  registerDownload('manifest', 'downloadExtractionManifest', 'Download what describes the file of a run');

  function registerDownload(which: RunFile, id: string, summary: string): void {
    operation(app, {
      method: 'GET',
      url: `/api/v1/extraction-schedules/:id/runs/:run_id/${which}`,
      id,
      tag,
      summary,
      description:
        'Kept here as long as at its destination, wherever that is. A download that was cut off goes on with `Range` and `If-Range`.',
      permission,
      permissionNote:
        "admin.settings for others' schedules; admin.export_workspace for others' files; costs.view for files that may hold costs",
      params: Params,
      answers: {
        200: {
          description: 'The file',
          schema: schemas[which],
          mediaType: media[which],
          headers: fileHeaders,
        },
        206: {
          description: 'The requested bytes',
          schema: schemas[which],
          mediaType: media[which],
          headers: fileHeaders,
        },
      },
      headers: ['Range', 'If-None-Match'],
      errors: ['range_not_satisfiable'],
      handler: async ({ ctx, params, request, reply }) =>
        await sendStoredFile(request, reply, await runFile(ctx, params.id, params.run_id, which), {
          open: (file, range) => openContent(services.blobs, file.id, range),
          opened: (file, range) => noteDownload(ctx, { run_id: params.run_id }, file, range),
        }),
    });
  }
}
