import { Readable } from 'node:stream';
import Type from 'typebox';
import { attachFile, deleteFile, requireUpload } from '../../../domain/collaboration/files/files.attach.ts';
import { checkFile } from '../../../domain/collaboration/files/files.check.ts';
import { attachedFile, fileSorts, listFiles } from '../../../domain/collaboration/files/files.list.ts';
import { fileKinds, MAX_ATTACHMENT } from '../../../domain/collaboration/files/files.types.ts';
import { openContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { fileHeaders, sendStoredFile } from '../../kernel/files/files.send.ts';
import { created, page, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import * as schemas from '../../schemas/collaboration.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, readBuffer, receiveForm, registerUploads } from '../../uploads.ts';

const managing = {
  permission: 'login',
  permissionNote: 'documents.manage or card.manage_documents',
} as const;
const mediaType = Object.values(fileKinds).map(({ mimeType }) => mimeType.split(';')[0]!);
const Content = Type.String({ contentMediaType: 'application/octet-stream' });

/** Files of cards. */
export async function registerFileRoutes(app: App, { blobs }: Services): Promise<void> {
  const routes = routesOf(app, { tag: 'Links and files' });

  routes.get('/api/v1/cards/:id/file-attachments', {
    id: 'listFiles',
    summary: 'List the files of a card',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(fileSorts, 'created_at', {}),
    answers: page('Files', schemas.FileAttachmentItemSchema),
    handler: ({ ctx, params, query }) => listFiles(ctx, params.id, query),
  });

  routes.get('/api/v1/file-attachments/:id/download', {
    id: 'downloadFile',
    summary: 'Download a file',
    description:
      'Always sent as an attachment with a sandboxing policy. `Repr-Digest` is the SHA-256 of the complete file.',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    headers: ['Range', 'If-None-Match'],
    answers: {
      200: { description: 'The file', schema: Content, mediaType, headers: fileHeaders },
      206: { description: 'The requested bytes', schema: Content, mediaType, headers: fileHeaders },
    },
    errors: ['range_not_satisfiable'],
    handler: async ({ ctx, params, request, reply }) =>
      await sendStoredFile(request, reply, await attachedFile(ctx, params.id), {
        open: (file, range) => openContent(blobs, file.id, range),
      }),
  });

  routes.delete('/api/v1/file-attachments/:id', {
    id: 'deleteFile',
    summary: 'Delete a file',
    description: 'Its content is retained for the days of the settings, so that the deletion can be undone.',
    ...managing,
    handler: ({ ctx, params }) => deleteFile(ctx, params.id),
  });

  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Links and files' });
    routes.post('/api/v1/cards/:id/file-attachments', {
      id: 'uploadFile',
      summary: 'Attach a file to a card',
      description:
        'pdf, docx, xlsx, pptx, png, jpeg, svg or txt, at most 10 MiB. The type is detected from the content, and the file extension must match it. Macros, scripts in images, encrypted files and archives that unpack to more than 200 MiB are refused.',
      ...managing,
      module: 'file_uploads',
      consumes: { 'multipart/form-data': { schema: schemas.FileForm } },
      bodyLimit: MAX_ATTACHMENT + FORM_OVERHEAD,
      ownIdempotency: true,
      errors: ['query_too_heavy'],
      answers: created('The file', schemas.FileAttachmentSchema),
      handler: async ({ ctx, params, request, reply }) => {
        await requireUpload(ctx, params.id);
        const { file: uploaded, values } = await receiveForm(request, {
          maxBytes: MAX_ATTACHMENT,
          fields: ['category'],
          read: async (part) => ({
            name: part.filename ?? '',
            content: await readBuffer(part, MAX_ATTACHMENT),
          }),
        });
        const { name, content } = uploaded;
        const category = values.category || null;
        const file = await checkFile(name, content);
        const sent = sha256(JSON.stringify([name, category, sha256(content)]));
        if (await applyIdempotencyKey(request, reply, sent)) return reply;
        const stored = await storeContent(blobs, Readable.from([content]));
        try {
          const { text } = await attachFile(ctx, params.id, stored, { ...file, category });
          return sendResource(reply.code(201), text);
        } catch (error) {
          // after other errors the transaction may have been committed
          if (error instanceof EstateError) await blobs.remove(stored.id);
          throw error;
        }
      },
    });
  });
}
