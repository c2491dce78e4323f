import { Readable } from 'node:stream';
import fastifyMultipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { requireTransferRights } from '../../../domain/app/workspace/transfer.check.ts';
import {
  applyTransfer,
  discardTransfer,
  readTransfer,
  startTransfer,
} from '../../../domain/app/workspace/transfer.commands.ts';
import { transferStatuses } from '../../../domain/app/workspace/transfer.types.ts';
import { archiveLimits } from '../../../domain/app/workspace/workspace.archive.ts';
import { WorkspaceExport } from '../../../domain/app/workspace/workspace.jobs.ts';
import { type StoredContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Nullable, object, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { startWorkspaceExport, streamWorkspace } from '../../../reports/app/workspace/workspace.export.ts';
import { sendStream } from '../../exchange/exports/exports.send.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { prefersAsync } from '../../prefer.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';

interface ArchiveUpload {
  content: StoredContent;
  filename: string;
}

const LOCAL_HEADER = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

/**
 * Streams the `file` of a form to the storage.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed` for a file without the zip signature.
 */
async function receiveArchive(request: FastifyRequest, blobs: BlobStore): Promise<ArchiveUpload> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send a form (multipart/form-data) with one file.');
  }
  let upload: ArchiveUpload | undefined;
  try {
    for await (const part of request.parts({
      limits: { fileSize: archiveLimits.packed + 1, files: 2, fields: 10 },
    })) {
      if (part.type !== 'file' || part.fieldname !== 'file' || upload) {
        if (part.type === 'file') part.file.resume();
        throw invalidField(
          part.fieldname,
          'unknown_field',
          'the form must have one part, the archive as `file`',
        );
      }
      const filename = (part.filename || 'workspace.zip').replace(/[^\p{L}\p{N}._ -]/gu, '_').slice(0, 200);
      upload = { content: await storeZip(blobs, part.file), filename };
    }
  } catch (error) {
    if (upload) await blobs.remove(upload.content.id);
    throw error;
  }
  if (!upload) throw invalidField('file', 'required', 'the form has no file');
  return upload;
}

async function storeZip(blobs: BlobStore, stream: Readable): Promise<StoredContent> {
  async function* checked() {
    let size = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > archiveLimits.packed) {
        throw new EstateError(
          'payload_too_large',
          `An archive can have at most ${archiveLimits.packed} bytes.`,
        );
      }
      if (head.length < LOCAL_HEADER.length) {
        head = Buffer.concat([head, chunk]).subarray(0, LOCAL_HEADER.length);
        if (!LOCAL_HEADER.subarray(0, head.length).equals(head)) throw notZip();
      }
      yield chunk;
    }
    if (head.length < LOCAL_HEADER.length) throw notZip();
  }
  return await storeContent(blobs, Readable.from(checked(), { objectMode: false }));
}

const notZip = (): EstateError => invalidField('file', 'bad_archive', 'is not a zip file');

const TransferParams = object({ transfer_id: Uuid });

const TransferForm = object({
  file: Type.String({ contentMediaType: 'application/zip', description: 'The archive' }),
});

const Counts = object({
  create: Type.Integer({ minimum: 0, description: 'New here' }),
  update: Type.Integer({ minimum: 0, description: 'Existing rows with other values' }),
  unchanged: Type.Integer({ minimum: 0, description: 'Existing rows with the same values' }),
  conflict: Type.Integer({ minimum: 0, description: 'Left alone' }),
});
const ByKind = Type.Record(Type.String(), Counts, { description: 'By the table of the rows' });
const Left = Type.Array(
  object({
    kind: Type.String(),
    key: Type.String(),
    // absent in transfers that an earlier version has read
    line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line in `content/<kind>.ndjson`' })),
    field: Type.Optional(Nullable(Type.String({ description: 'The invalid column' }))),
    code: Type.String(),
    message: Type.String(),
  }),
  { description: 'The first 1,000 skipped rows, with the reason' },
);

const WorkspaceTransferSchema = Type.Object(
  {
    id: Uuid,
    filename: Type.String(),
    status: Type.Union(
      transferStatuses.map((status) => Type.Literal(status)),
      { description: '`parsing` -> `previewed` -> `applying` -> `applied`, or `failed`' },
    ),
    format_version: Nullable(Type.String()),
    source_url: Nullable(
      Type.String({ description: 'The URL of the source workspace, as stated in the archive' }),
    ),
    diff: Nullable(
      Type.Object(
        {
          kinds: ByKind,
          totals: Counts,
          conflicts: Left,
          source: object({
            service_version: Type.String(),
            schema_version: Type.String(),
            position: Type.String(),
            created_at: Type.String(),
          }),
          include_archived: Type.Boolean(),
        },
        { additionalProperties: false, description: 'What the archive would change' },
      ),
    ),
    result: Nullable(
      Type.Object(
        { kinds: ByKind, totals: Counts, left: Left },
        { additionalProperties: false, description: 'The result of the import' },
      ),
    ),
    error_message: Nullable(Type.String()),
    job_id: Nullable(Uuid),
    created_at: Timestamp,
    previewed_at: Nullable(Timestamp),
    applied_at: Nullable(Timestamp),
  },
  { $id: 'WorkspaceTransfer', additionalProperties: false },
);

const counts = { create: 312, update: 2, unchanged: 240, conflict: 1 };

const transferExample = {
  id: '0192f0c1-7b7e-7cc0-9d3e-2f6f4b1c5a10',
  filename: 'estate-workspace-2026-01-31.zip',
  status: 'previewed',
  format_version: '1.0',
  source_url: null,
  diff: {
    kinds: { cards: counts },
    totals: counts,
    conflicts: [
      {
        kind: 'cards',
        key: 'Application/Payroll',
        line: 17,
        field: null,
        code: 'taken:cards_sibling_name',
        message: 'another card here has it already: Application/APP-1',
      },
    ],
    source: {
      service_version: '0.1.0',
      schema_version: '0001-baseline',
      position: '4821',
      created_at: '2026-01-31T08:00:00.000Z',
    },
    include_archived: false,
  },
  result: null,
  error_message: null,
  job_id: '0192f0c1-7b7e-7cc0-9d3e-2f6f4b1c5a11',
  created_at: '2026-01-31T08:01:00.000Z',
  previewed_at: '2026-01-31T08:01:04.000Z',
  applied_at: null,
};

const FORM_ROOM = 64 * 1024;
const importing = {
  permission: 'admin.import_workspace',
  permissionNote: 'every other permission',
} as const;
const answer = (description: string) => ({
  description,
  schema: WorkspaceTransferSchema,
  example: transferExample,
});

/** Export and import of complete workspaces as archives. */
export async function registerWorkspaceRoutes(app: App, services: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Workspace transfer' });

  const { blobs } = services;

  routes.get('/api/v1/admin/workspace/export', {
    id: 'exportWorkspace',
    summary: 'Download the complete workspace as one archive',
    description:
      'A zip file of one snapshot: `manifest.json` with versions, feed position, and name, size, rows and SHA-256 of every part; the rows of each kind as NDJSON; and the contents of files. It contains no passwords, tokens or other secrets, and no connections to other systems. `X-Position` is the position in the change feed that it includes. With `Prefer: respond-async` a job writes the archive.',
    permission: 'admin.export_workspace',
    permissionNote: 'costs.view',
    query: WorkspaceExport,
    answers: {
      200: {
        description: 'The archive',
        schema: Type.String({ contentMediaType: 'application/zip' }),
        mediaType: 'application/zip',
      },
      202: { description: 'The job that was started, as preferred', schema: StartedJobSchema },
    },
    handler: async ({ ctx, query, request, reply }) => {
      if (prefersAsync(request)) {
        const job = await startWorkspaceExport(ctx, query);
        reply.code(202).header('location', job.links.self).header('preference-applied', 'respond-async');
        return reply.send(job);
      }
      return sendStream(reply, await streamWorkspace(services, ctx, query));
    },
  });

  routes.get('/api/v1/admin/workspace/import/:transfer_id', {
    id: 'readWorkspaceTransfer',
    summary: 'Read a transfer, and what its archive would change',
    description:
      '`diff` counts the rows of each kind and lists those that would be skipped; `result` has the same members for the executed import.',
    ...importing,
    params: TransferParams,
    answers: { 200: answer('The transfer') },
    handler: ({ ctx, params }) => readTransfer(ctx, params.transfer_id),
  });

  routes.delete('/api/v1/admin/workspace/import/:transfer_id', {
    id: 'discardWorkspaceTransfer',
    summary: 'Discard a transfer with its archive',
    description: 'Applied changes remain.',
    ...importing,
    params: TransferParams,
    answers: { 204: { description: 'Discarded' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => discardTransfer(ctx, params.transfer_id),
  });

  routes.post('/api/v1/admin/workspace/import/:transfer_id/apply', {
    id: 'applyWorkspaceTransfer',
    summary: 'Import a previewed archive, as a job',
    description:
      'New rows are created and changed rows updated; nothing is deleted. Rows that cannot be written are skipped and listed in `result.left`. All changes have events in the change feed, in the batch of the job.',
    ...importing,
    params: TransferParams,
    answers: { 202: answer('The transfer, which is being applied') },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => applyTransfer(ctx, params.transfer_id),
  });

  // a plugin with its own body parser: archives are streamed to the storage
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Workspace transfer' });
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    await uploads.register(fastifyMultipart);
    routes.post('/api/v1/admin/workspace/import', {
      id: 'importWorkspace',
      summary: 'Upload an archive of a workspace, and preview its changes by a job',
      description:
        'At most 1 GiB. The job checks format, versions, sizes and checksums, and compares every row with the workspace; the workspace is not changed before `apply`.',
      ...importing,
      consumes: { 'multipart/form-data': { schema: TransferForm } },
      bodyLimit: archiveLimits.packed + FORM_ROOM,
      ownIdempotency: true,
      answers: { 202: answer('The transfer, which is being read') },
      handler: async ({ ctx, request, reply }) => {
        requireTransferRights(ctx.caller);
        const { content, filename } = await receiveArchive(request, blobs);
        try {
          if (await applyIdempotencyKey(request, reply, content.sha256)) {
            await blobs.remove(content.id);
            return reply;
          }
          return sendJson(reply.code(202), await startTransfer(ctx, content, filename));
        } catch (error) {
          // after any other error the transfer may have been committed
          if (error instanceof EstateError) await blobs.remove(content.id);
          throw error;
        }
      },
    });
  });
}
