import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { requireTransferRights } from '../../../domain/app/workspace/transfer.check.ts';
import {
  applyTransfer,
  discardTransfer,
  readTransfer,
  startTransfer,
  transferMembers,
} from '../../../domain/app/workspace/transfer.commands.ts';
import { archiveLimits } from '../../../domain/app/workspace/workspace.archive.ts';
import { WorkspaceExport } from '../../../domain/app/workspace/workspace.jobs.ts';
import type { StoredContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { component, object, Uuid } from '../../../domain/kernel/shapes.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { type EstateError, invalidField } from '../../../platform/errors.ts';
import { startWorkspaceExport, streamWorkspace } from '../../../reports/app/workspace/workspace.export.ts';
import { sendStream } from '../../kernel/files/stream.send.ts';
import { file, routesOf } from '../../operation.ts';
import { preferredJob, prefersAsync, sendPreferredJob } from '../../prefer.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, receiveForm, registerUploads, storeUpload, useUpload } from '../../uploads.ts';

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
  const { file } = await receiveForm(request, {
    maxBytes: archiveLimits.packed,
    read: async ({ file, filename }) => ({
      content: await storeUpload(blobs, checkZip(file), archiveLimits.packed),
      filename: (filename || 'workspace.zip').replace(/[^\p{L}\p{N}._ -]/gu, '_').slice(0, 200),
    }),
    discard: ({ content }) => blobs.remove(content.id),
  });
  return file;
}

/** The content of a file that has the signature of a zip file. @throws EstateError `validation_failed`. */
async function* checkZip(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  for await (const chunk of content) {
    if (head.length < LOCAL_HEADER.length) {
      head = Buffer.concat([head, chunk]).subarray(0, LOCAL_HEADER.length);
      if (!LOCAL_HEADER.subarray(0, head.length).equals(head)) throw notZip();
    }
    yield chunk;
  }
  if (head.length < LOCAL_HEADER.length) throw notZip();
}

const notZip = (): EstateError => invalidField('file', 'bad_archive', 'is not a zip file');

const TransferParams = object({ transfer_id: Uuid });

const TransferForm = object({
  file: Type.String({ contentMediaType: 'application/zip', description: 'The archive' }),
});

const WorkspaceTransferSchema = component('WorkspaceTransfer', transferMembers);

const importing = {
  permission: 'admin.import_workspace',
  permissionNote: 'every other permission',
} as const;
const answer = (description: string) => ({ description, schema: WorkspaceTransferSchema });

/** Export and import of complete workspaces as archives. */
export async function registerWorkspaceRoutes(app: App, services: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Workspace transfer' });

  const { blobs } = services;

  routes.get('exportWorkspace', '/api/v1/admin/workspace/export', {
    summary: 'Download the complete workspace as one archive',
    description:
      'A zip file of one snapshot: `manifest.json` with versions, feed position, and name, size, rows and SHA-256 of every part; the rows of each kind as NDJSON; and the contents of files. It contains no passwords, tokens or other secrets, and no connections to other systems. `X-Position` is the position in the change feed that it includes. With `Prefer: respond-async` a job writes the archive.',
    permission: 'admin.export_workspace',
    permissionNote: 'costs.view',
    query: WorkspaceExport,
    responses: { ...file('The archive', 'application/zip'), 202: preferredJob },
    handler: async ({ ctx, query, request, reply }) => {
      if (prefersAsync(request)) return sendPreferredJob(reply, await startWorkspaceExport(ctx, query));
      return sendStream(reply, await streamWorkspace(services, ctx, query));
    },
  });

  routes.get('readWorkspaceTransfer', '/api/v1/admin/workspace/import/:transfer_id', {
    summary: 'Read a transfer, and what its archive would change',
    description:
      '`diff` counts the rows of each kind and lists those that would be skipped; `result` has the same members for the executed import.',
    ...importing,
    params: TransferParams,
    responses: { 200: answer('The transfer') },
    handler: ({ ctx, params }) => readTransfer(ctx, params.transfer_id),
  });

  routes.delete('discardWorkspaceTransfer', '/api/v1/admin/workspace/import/:transfer_id', {
    summary: 'Discard a transfer with its archive',
    description: 'Applied changes remain.',
    ...importing,
    params: TransferParams,
    responses: { 204: { description: 'Discarded' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => discardTransfer(ctx, params.transfer_id),
  });

  routes.post('applyWorkspaceTransfer', '/api/v1/admin/workspace/import/:transfer_id/apply', {
    summary: 'Import a previewed archive, as a job',
    description:
      'New rows are created and changed rows updated; nothing is deleted. Rows that cannot be written are skipped and listed in `result.left`. All changes have events in the change feed, in the batch of the job.',
    ...importing,
    params: TransferParams,
    responses: { 202: answer('The transfer, which is being applied') },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => applyTransfer(ctx, params.transfer_id),
  });

  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Workspace transfer' });
    routes.post('importWorkspace', '/api/v1/admin/workspace/import', {
      summary: 'Upload an archive of a workspace, and preview its changes by a job',
      description:
        'At most 1 GiB. The job checks format, versions, sizes and checksums, and compares every row with the workspace; the workspace is not changed before `apply`.',
      ...importing,
      consumes: { 'multipart/form-data': { schema: TransferForm } },
      bodyLimit: archiveLimits.packed + FORM_OVERHEAD,
      ownIdempotency: true,
      responses: { 202: answer('The transfer, which is being read') },
      handler: async ({ ctx, request, reply }) => {
        requireTransferRights(ctx.caller);
        const { content, filename } = await receiveArchive(request, blobs);
        return await useUpload(request, reply, { blobs, content }, () =>
          startTransfer(ctx, content, filename),
        );
      },
    });
  });
}
