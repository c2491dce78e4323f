import { Readable } from 'node:stream';
import Type from 'typebox';
import { Document, FileAttachment } from '../../../domain/collaboration/collaboration.model.ts';
import {
  addDocument,
  documentList,
  patchDocument,
  removeDocument,
} from '../../../domain/collaboration/documents/documents.ts';
import {
  attachFile,
  deleteFile,
  patchFile,
  requireUpload,
} from '../../../domain/collaboration/files/files.attach.ts';
import { checkFile } from '../../../domain/collaboration/files/files.check.ts';
import { attachedFile, attachmentList } from '../../../domain/collaboration/files/files.list.ts';
import { fileKinds, MAX_ATTACHMENT } from '../../../domain/collaboration/files/files.types.ts';
import { createTicket } from '../../../domain/kernel/events/tickets.ts';
import { openContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Clearable, component, Nullable, OptionalText, object } from '../../../domain/kernel/shapes.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { sendResource } from '../../json.ts';
import { TicketParameter, TicketSchema } from '../../kernel/events/ticket.schemas.ts';
import { fileHeaders, sendStoredFile } from '../../kernel/files/files.send.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, readBuffer, receiveForm, registerUploads, useUpload } from '../../uploads.ts';

const DocumentSchema = component('Document', Document.columns);

const DocumentBody = object({
  name: Document.columns.name,
  url: Clearable(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'With http, https or mailto',
      examples: ['https://wiki.example.com/claims'],
    }),
  ),
  type: Type.String({
    ...Document.columns.type,
    default: 'link',
    description: 'An enabled link type, or `link`',
  }),
});
const DocumentPatchBody = object({
  name: Type.Optional(Document.columns.name),
  url: DocumentBody.properties.url,
  type: Type.Optional(
    Type.String({ ...Document.columns.type, description: 'An enabled link type, or `link`' }),
  ),
});
const FilePatchBody = object({
  category: Clearable(Type.String({ minLength: 1, maxLength: 100, description: 'An enabled file category' })),
});
const file = {
  ...FileAttachment.shown.columns,
  created_by_name: Nullable(Type.String()),
};
const FileAttachmentSchema = component('FileAttachment', file);
/** The fields of the upload form. */
const FileForm = object({
  file: Type.String({ format: 'binary' }),
  category: OptionalText(100, 'An enabled file category'),
});

const managing = {
  permission: 'login',
  permissionNote: 'documents.manage or card.manage_documents',
} as const;
const mediaType = Object.values(fileKinds).map(({ mimeType }) => mimeType.split(';')[0]!);
const Content = Type.String({ contentMediaType: 'application/octet-stream' });

/** Links and files of cards. */
export async function registerFileRoutes(app: App, { blobs }: Services): Promise<void> {
  registerLinks(app);
  const routes = routesOf(app, { tag: 'Links and files' });

  routes.list('listFiles', '/api/v1/cards/:id/file-attachments', attachmentList, {
    summary: 'List the files of a card',
    permissionNote: 'inventory.view or card.view',
    responses: page('Files', FileAttachmentSchema),
  });

  routes.post('createFileTicket', '/api/v1/file-attachments/:id/ticket', {
    summary: 'Get a single-use ticket that downloads a file without a header',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    secretResponse: true,
    responses: { 201: { description: 'The ticket', schema: TicketSchema } },
    handler: async ({ ctx, params, request }) => {
      await attachedFile(ctx, params.id);
      const path = `/api/v1/file-attachments/${plainId(params.id)}/download`;
      return await createTicket(ctx, request.credential!, 'download', path);
    },
  });

  routes.get('downloadFile', '/api/v1/file-attachments/:id/download', {
    summary: 'Download a file',
    description:
      'Always sent as an attachment with a sandboxing policy. `Repr-Digest` is the SHA-256 of the complete file.',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    ticket: 'download',
    query: object({ ticket: TicketParameter }),
    headers: ['Range', 'If-None-Match'],
    responses: {
      200: { description: 'The file', schema: Content, mediaType, headers: fileHeaders },
      206: { description: 'The requested bytes', schema: Content, mediaType, headers: fileHeaders },
    },
    errors: ['range_not_satisfiable'],
    handler: async ({ ctx, params, request, reply }) =>
      await sendStoredFile(request, reply, await attachedFile(ctx, params.id), {
        open: (file, range) => openContent(blobs, file.id, range),
      }),
  });

  routes.patch('patchFile', '/api/v1/file-attachments/:id', {
    summary: 'Change the category of a file',
    ...managing,
    body: FilePatchBody,
    responses: ok('The file', FileAttachmentSchema, 'ETag'),
    handler: ({ ctx, params, body }) => patchFile(ctx, params.id, body),
  });

  routes.delete('deleteFile', '/api/v1/file-attachments/:id', {
    summary: 'Delete a file',
    description: 'Its content is retained for the days of the settings, so that the deletion can be undone.',
    ...managing,
    handler: ({ ctx, params }) => deleteFile(ctx, params.id),
  });

  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Links and files' });

    routes.post('uploadFile', '/api/v1/cards/:id/file-attachments', {
      summary: 'Attach a file to a card',
      description:
        'pdf, docx, xlsx, pptx, png, jpeg, svg or txt, at most 10 MiB. The type is detected from the content, and the file extension must match it. Macros, scripts in images, encrypted files and archives that unpack to more than 200 MiB are refused.',
      ...managing,
      module: 'file_uploads',
      consumes: { 'multipart/form-data': { schema: FileForm } },
      bodyLimit: MAX_ATTACHMENT + FORM_OVERHEAD,
      ownIdempotency: true,
      errors: ['query_too_heavy'],
      responses: created('The file', FileAttachmentSchema),
      handler: async ({ ctx, params, request, reply }) => {
        await requireUpload(ctx, params.id);
        const { file, values } = await receiveForm(request, {
          maxBytes: MAX_ATTACHMENT,
          fields: ['category'],
          read: async (part) => ({
            name: part.filename ?? '',
            content: await readBuffer(part, MAX_ATTACHMENT),
          }),
        });
        const category = values.category || null;
        const checked = await checkFile(file.name, file.content);
        const content = await storeContent(blobs, Readable.from([file.content]));
        const attach = async () => {
          const { text } = await attachFile(ctx, params.id, content, { ...checked, category });
          return sendResource(reply.code(201), text);
        };
        const hash = sha256(JSON.stringify([file.name, category, content.sha256]));
        return await useUpload(request, reply, { blobs, content, hash }, attach);
      },
    });
  });
}

/** Links of cards. */
function registerLinks(app: App): void {
  const routes = routesOf(app, { tag: 'Links and files' });

  routes.list('listDocuments', '/api/v1/cards/:id/documents', documentList, {
    summary: 'List the links of a card',
    permissionNote: 'inventory.view or card.view',
    responses: page('Links', DocumentSchema),
  });

  routes.post('addDocument', '/api/v1/cards/:id/documents', {
    summary: 'Add a link to a card',
    ...managing,
    body: DocumentBody,
    responses: created('The link', DocumentSchema),
    handler: async ({ ctx, params, body }) => (await addDocument(ctx, params.id, body)).text,
  });

  routes.patch('patchDocument', '/api/v1/documents/:id', {
    summary: 'Change a link',
    ...managing,
    body: DocumentPatchBody,
    responses: ok('The link', DocumentSchema, 'ETag'),
    handler: ({ ctx, params, body }) => patchDocument(ctx, params.id, body),
  });

  routes.delete('removeDocument', '/api/v1/documents/:id', {
    summary: 'Remove a link',
    ...managing,
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeDocument(ctx, params.id),
  });
}
