import type { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { readFailedRows } from '../../../domain/exchange/imports/imports.failed.ts';
import { importOptions } from '../../../domain/exchange/imports/imports.job.ts';
import { requireImportRights } from '../../../domain/exchange/imports/imports.rights.ts';
import { importReport, openReport, readImportRows } from '../../../domain/exchange/imports/imports.rows.ts';
import { type ImportOptions, startImport } from '../../../domain/exchange/imports/imports.run.ts';
import { readImportSheet } from '../../../domain/exchange/imports/imports.sheet.ts';
import { createTicket } from '../../../domain/kernel/events/tickets.ts';
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
import { downloadFailedRows } from '../../../reports/exchange/imports/failed-rows.download.ts';
import { sendJson } from '../../json.ts';
import { TicketParameter, TicketSchema } from '../../kernel/events/ticket.schemas.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, routesOf } from '../../operation.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, receiveForm, registerUploads, storeUpload, useUpload } from '../../uploads.ts';

/** Maximum size of a file, in bytes: 512 MiB. */
const MAX_UPLOAD = 512 * 1024 * 1024;
/** The same of a workbook whose cells are answered. */
const MAX_WORKBOOK = 20_000_000;

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

const reportNote =
  "admin.events and admin.export_workspace for others' imports; inventory.view for changed values; costs.view for changed costs, for columns with costs and for costs";

/** The report of an import in a format of its own choice, and tickets for it. */
function registerReportRoutes(app: App, blobs: BlobStore): void {
  const routes = routesOf(app, {
    tag: 'Imports and exports',
    permission: 'login',
    permissionNote: reportNote,
  });

  routes.post('createImportTicket', '/api/v1/imports/:id/ticket', {
    summary: 'Get a single-use ticket that downloads the report of an import without a header',
    secretResponse: true,
    responses: { 201: { description: 'The ticket', schema: TicketSchema } },
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, request }) => {
      await importReport(ctx, params.id);
      const path = `/api/v1/imports/${plainId(params.id)}/report`;
      return await createTicket(ctx, request.credential!, 'download', path);
    },
  });

  routes.get('downloadImportReport', '/api/v1/imports/:id/report', {
    summary: 'Download the report of an import',
    description:
      'As NDJSON: the result of the job. As CSV or XLSX: the rows that failed, with the header and the cells that were sent and a last column `import_errors` with the reasons, ready to be corrected and imported again; imports ignore that column. Failed rows are stored for 30 days, after which only NDJSON remains. Without costs.view, columns with costs are left out.',
    ticket: 'download',
    query: partialObject({
      format: Choice(['ndjson', 'csv', 'xlsx'], 'Several sheets with failed rows are only in XLSX', 'ndjson'),
      ticket: TicketParameter,
    }),
    responses: {
      200: {
        description: 'The file',
        schema: OpenObject,
        otherMedia: ['application/x-ndjson', 'text/csv', XLSX],
      },
    },
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, query: { format = 'ndjson' }, reply }) => {
      const file =
        format === 'ndjson'
          ? await openReport(ctx, blobs, params.id)
          : await downloadFailedRows(ctx, await readFailedRows(ctx, blobs, params.id), format);
      return reply
        .headers({
          'content-type': file.mediaType,
          'content-disposition': contentDisposition(file.name),
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; sandbox",
        })
        .send(file.body);
    },
  });
}

/** The cells of a workbook's sheet, so that its columns can be matched before it is imported. */
function registerSheetRoute(uploads: App, blobs: BlobStore): void {
  const { kind, sheet } = importOptions;
  routesOf(uploads, { tag: 'Imports and exports' }).post('readImportSheet', '/api/v1/imports/sheets', {
    summary: 'Read the cells of a sheet of a workbook',
    description:
      'To match its columns before an import; nothing is stored. Cells are read as by an import: dates as `YYYY-MM-DD`, formulas by their results. Empty rows are left out. The workbook has at most 20,000,000 bytes, the sheet 100,000 rows and 20,000,000 characters.',
    permission: 'login',
    permissionNote:
      'inventory.create for cards; relations.manage for relations and data flows; costs.view and inventory.edit for costs',
    query: partialObject({ kind, sheet }),
    consumes: { [XLSX]: {} },
    bodyLimit: MAX_WORKBOOK,
    ownIdempotency: true,
    responses: ok(
      'The sheet',
      object({
        sheets: Type.Array(Type.String(), { description: 'The names of all sheets' }),
        sheet: Type.String({ description: 'The name of the one that is read' }),
        rows: Type.Array(
          object({
            row: IntegerFrom(1, 'In the sheet'),
            cells: Type.Array(Type.String()),
            uncalculated: Type.Optional(
              Type.Array(IntegerFrom(0, 'A column, from 0'), {
                description: 'The columns with a formula that has no result',
              }),
            ),
            failed: Type.Optional(
              Type.Array(IntegerFrom(0, 'A column, from 0'), {
                description: 'The columns with errors such as `#N/A`, whose cells are empty',
              }),
            ),
            ambiguous: Type.Optional(
              Type.Array(IntegerFrom(0, 'A column, from 0'), {
                description: 'The columns with texts such as `1.234`, which imports refuse for numbers',
              }),
            ),
          }),
        ),
      }),
    ),
    handler: async ({ ctx, query: { kind = 'cards', sheet }, request, reply }) => {
      requireImportRights(ctx, { kind, mode: 'create', report: 'failed' });
      const content = await storeUpload(blobs, request.body as Readable, MAX_WORKBOOK);
      try {
        return await useUpload(request, reply, { blobs, content }, async () =>
          sendJson(reply, JSON.stringify(await readImportSheet(blobs, content, kind, sheet))),
        );
      } finally {
        await blobs.remove(content.id);
      }
    },
  });
}

/** The import of files as jobs. */
export async function registerImportRoutes(app: App, { blobs }: Services): Promise<void> {
  registerRowsRoute(app, blobs);
  registerReportRoutes(app, blobs);
  await registerUploads(app, [FORM, ...Object.keys(rawTypes)], (uploads) => {
    registerSheetRoute(uploads, blobs);
    const routes = routesOf(uploads, { tag: 'Imports and exports' });
    routes.post('startImport', '/api/v1/imports', {
      summary: 'Import cards, relations, costs or data flows from a file, as a job',
      description:
        'CSV, NDJSON or XLSX, of which the first row of each sheet names the columns. Invalid rows are skipped, unless `atomic` is true. The job’s `counts` are `total`, `created`, `updated`, `unchanged` and `failed`; its result file is the report as NDJSON with `line`, `sheet` of a workbook, `external_id`, `outcome` and `errors`.',
      permission: 'login',
      permissionNote:
        'inventory.create for cards; inventory.edit for cards in the mode upsert; tags.manage for create_tags; relations.manage for relations and data flows; costs.view and inventory.edit for costs',
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
