import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { importOptions } from '../../../domain/exchange/imports/imports.job.ts';
import { requireImportRights } from '../../../domain/exchange/imports/imports.rights.ts';
import { readImportRows } from '../../../domain/exchange/imports/imports.rows.ts';
import { type ImportOptions, startImport } from '../../../domain/exchange/imports/imports.run.ts';
import type { StoredContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  component,
  IntegerFrom,
  NullableText,
  OpenObject,
  object,
  partialObject,
} from '../../../domain/kernel/shapes.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendJson } from '../../json.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { FORM, receiveForm, registerUploads, storeUpload, useUpload } from '../../uploads.ts';

/** Maximum size of a file, in bytes: 512 MiB. */
const MAX_UPLOAD = 512 * 1024 * 1024;

interface Upload {
  content: StoredContent;
  format: ImportOptions['format'];
}

/** Media types of a body that is the file itself. */
const rawTypes: Record<string, ImportOptions['format']> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  [XLSX]: 'xlsx',
};

const formatsByEnding = new Map<string | undefined, ImportOptions['format']>([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['xlsx', 'xlsx'],
]);

/**
 * Streams the request's file to the storage, from a raw body or the `file` of a form.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
async function receiveUpload(request: FastifyRequest, blobs: BlobStore): Promise<Upload> {
  const store = async (header: string | undefined, stream: Readable, ending?: string): Promise<Upload> => {
    const { type, charset } = mediaType(header);
    requireUtf8(charset);
    const format = rawTypes[type] ?? formatsByEnding.get(ending);
    if (!format) {
      stream.resume();
      throw new EstateError(
        'unsupported_media_type',
        `Send text/csv, application/x-ndjson or ${XLSX}, or a form with one file of these types.`,
      );
    }
    return { content: await storeUpload(blobs, stream, MAX_UPLOAD), format };
  };
  if (!request.isMultipart()) return await store(request.headers['content-type'], request.body as Readable);
  const { file } = await receiveForm(request, {
    maxBytes: MAX_UPLOAD,
    read: ({ mimetype, filename = '', file }) =>
      store(mimetype, file, /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase()),
    discard: ({ content }) => blobs.remove(content.id),
  });
  return file;
}

function mediaType(header: string | undefined): { type: string; charset: string | undefined } {
  const [type, ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return { type: type!, charset: charset?.slice('charset='.length).replaceAll('"', '') };
}

function requireUtf8(charset: string | undefined): void {
  if (charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset)) return;
  throw new EstateError('unsupported_media_type', `The file must be UTF-8, not ${charset}.`);
}

/** How an uploaded file is imported. */
const ImportQuery = object(importOptions);

const cards = `type,external_id,name,lifecycle.active,attributes.businessCriticality
Application,APP-1,Payroll,2020-01-01,missionCritical
`;
const cardLine = '{"type":"Application","external_id":"APP-1","name":"Payroll"}\n';

const Outcomes = Choice(['created', 'updated', 'unchanged', 'failed', 'skipped']);

const ImportRow = component('ImportRow', {
  line: IntegerFrom(1, 'In the file; of a workbook the row of the sheet'),
  sheet: Type.Optional(Type.String({ description: 'Of a workbook' })),
  external_id: NullableText('As in the file'),
  outcome: Outcomes,
  errors: Type.Array(OpenObject, { description: 'As in the errors of a response 422' }),
  warnings: Type.Optional(Type.Array(OpenObject, { description: 'Cards that are probably the same' })),
  changes: Type.Optional(
    Type.Record(Type.String(), object({ old: Type.Unknown(), new: Type.Unknown() }), {
      description: 'By field, in a report with `report=changes`',
    }),
  ),
});

/** The rows of reports by page. */
function registerRowsRoute(app: App, blobs: BlobStore): void {
  routesOf(app, { tag: 'Imports and exports' }).get('listImportRows', '/api/v1/imports/:id/rows', {
    summary: 'Read the rows of an import’s report by page',
    description:
      'In the order of the file; those that `report` has selected. A page can have fewer rows than `page_size` if few have the outcome.',
    permission: 'login',
    permissionNote:
      "admin.events and admin.export_workspace for others' imports; inventory.view for changed values; costs.view for changed costs",
    query: partialObject({
      outcome: { ...Outcomes, description: 'Only rows with this outcome' },
      cursor: Type.String({ maxLength: 20, description: '`next_cursor` of the page before' }),
      page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    }),
    responses: ok(
      'The rows',
      object({ items: Type.Array(ImportRow), next_cursor: NullableText('Null after the last row') }),
    ),
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, query: { page_size = 50, ...page }, reply }) =>
      sendJson(reply, await readImportRows(ctx, blobs, params.id, { ...page, page_size })),
  });
}

/** The import of files as jobs. */
export async function registerImportRoutes(app: App, { blobs }: Services): Promise<void> {
  registerRowsRoute(app, blobs);
  await registerUploads(app, [FORM, ...Object.keys(rawTypes)], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Imports and exports' });
    routes.post('startImport', '/api/v1/imports', {
      summary: 'Import cards, relations, costs or data flows from a file, as a job',
      description:
        'CSV, NDJSON or XLSX, of which the first row of each sheet names the columns. Invalid rows are skipped, unless `atomic` is true. The job’s `counts` are `total`, `created`, `updated`, `unchanged` and `failed`; its result file is the report as NDJSON with `line`, `sheet` of a workbook, `external_id`, `outcome` and `errors`.',
      permission: 'login',
      permissionNote:
        'inventory.create for cards; inventory.edit for cards in the mode upsert; relations.manage for relations and data flows; costs.view and inventory.edit for costs',
      query: ImportQuery,
      consumes: {
        'text/csv': { example: cards },
        'application/x-ndjson': { example: cardLine },
        [XLSX]: {},
        'multipart/form-data': {},
      },
      bodyLimit: MAX_UPLOAD,
      ownIdempotency: true,
      responses: started,
      handler: async ({ ctx, query, request, reply }) => {
        requireImportRights(ctx, query);
        const { content, format } = await receiveUpload(request, blobs);
        return await useUpload(request, reply, { blobs, content }, () =>
          startImport(ctx, blobs, content, { ...query, format }),
        );
      },
    });
  });
}
