import fastifyMultipart from '@fastify/multipart';
import Type from 'typebox';
import {
  applyTransfer,
  discardTransfer,
  readTransfer,
  startTransfer,
} from '../../../domain/app/workspace/transfer.commands.ts';
import { requireTransferRights } from '../../../domain/app/workspace/transfer.rights.ts';
import { archiveLimits } from '../../../domain/app/workspace/workspace.archive.ts';
import { WorkspaceExport } from '../../../domain/app/workspace/workspace.jobs.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { EstateError } from '../../../platform/errors.ts';
import { startWorkspaceExport, streamWorkspace } from '../../../reports/app/workspace/workspace.export.ts';
import { sendStream } from '../../exchange/exports/exports.send.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { prefersAsync } from '../../prefer.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import {
  TransferForm,
  TransferParams,
  transferExample,
  WorkspaceTransferSchema,
} from '../../schemas/workspace.ts';
import type { App } from '../../types.ts';
import { receiveArchive } from './workspace.upload.ts';

const FORM_ROOM = 64 * 1024;
const schema = WorkspaceTransferSchema;
const importing = {
  permission: 'admin.import_workspace',
  permissionNote: 'every other permission',
} as const;
const answer = (description: string) => ({ description, schema, example: transferExample });

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
