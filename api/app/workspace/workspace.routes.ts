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

/** Whole workspaces, out as an archive and in again. */
export async function registerWorkspaceRoutes(app: App, services: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Workspace transfer' });

  const { blobs } = services;

  routes.get('/api/v1/admin/workspace/export', {
    id: 'exportWorkspace',
    summary: 'Download the whole workspace as one archive',
    description:
      'A zip from one moment: `manifest.json` with versions, feed position, and name, size, rows and SHA-256 of every part; the rows of each kind as lines of JSON; and the contents of files. No passwords, tokens or other secrets, and nothing that would call another system. `X-Position` is the place in the change feed that it includes. With `Prefer: respond-async` the archive is made by a job.',
    permission: 'admin.export_workspace',
    permissionNote: 'costs.view',
    query: WorkspaceExport,
    answers: {
      200: {
        description: 'The archive',
        schema: Type.String({ contentMediaType: 'application/zip' }),
        mediaType: 'application/zip',
      },
      202: { description: 'The job that was started instead, as preferred', schema: StartedJobSchema },
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
      '`diff` counts the rows of each kind and names those that would be left alone; `result` does so for what was done.',
    ...importing,
    params: TransferParams,
    answers: { 200: answer('The transfer') },
    handler: ({ ctx, params }) => readTransfer(ctx, params.transfer_id),
  });

  routes.delete('/api/v1/admin/workspace/import/:transfer_id', {
    id: 'discardWorkspaceTransfer',
    summary: 'Discard a transfer with its archive',
    description: 'What was applied stays as it is.',
    ...importing,
    params: TransferParams,
    answers: { 204: { description: 'Discarded' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => discardTransfer(ctx, params.transfer_id),
  });

  routes.post('/api/v1/admin/workspace/import/:transfer_id/apply', {
    id: 'applyWorkspaceTransfer',
    summary: 'Write what a previewed archive holds, as a job',
    description:
      'New rows are created and changed ones brought in line; nothing is deleted. Rows that cannot be written are named in `result.left` and stop no others. Everything is told in the change feed, in the batch of the job.',
    ...importing,
    params: TransferParams,
    answers: { 202: answer('The transfer, which is being applied') },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => applyTransfer(ctx, params.transfer_id),
  });

  // with a parser of its own: archives are stored as they come in
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Workspace transfer' });
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    await uploads.register(fastifyMultipart);
    routes.post('/api/v1/admin/workspace/import', {
      id: 'importWorkspace',
      summary: 'Upload an archive of a workspace, and have a job find out what it would change',
      description:
        'At most 1 GiB. The job checks format, versions, sizes and checksums, and compares every row with what is here; nothing of the workspace is written before `apply`.',
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
          // after any other error the transfer may exist nevertheless
          if (error instanceof EstateError) await blobs.remove(content.id);
          throw error;
        }
      },
    });
  });
}
