import Type from 'typebox';
import { requireWriter, rights } from '../../../domain/modelling/bpm/bpm.access.ts';
import { modelLimits } from '../../../domain/modelling/bpm/bpmn.model.ts';
import { readModelFile, readModelText, readThumbnail } from '../../../domain/modelling/bpm/bpmn.read.ts';
import {
  exportModel,
  exportPicture,
  listDiagramVersions,
  readDiagram,
  versionSorts,
} from '../../../domain/modelling/bpm/diagrams.queries.ts';
import { deleteDiagram, saveDiagram } from '../../../domain/modelling/bpm/diagrams.save.ts';
import { elementFilters, elementSorts, listElements } from '../../../domain/modelling/bpm/elements.list.ts';
import { type LinkInput, linkElement } from '../../../domain/modelling/bpm/links.save.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { AnswerHeader } from '../../openapi/headers.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import * as schemas from '../../schemas/bpm.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, receiveBuffer, registerUploads } from '../../uploads.ts';
import { sendDiagramFile } from './bpm.file.ts';

const tag = 'Processes';
const readingGroup = {
  tag,
  module: 'bpm',
  permission: 'bpm.view',
  permissionNote: 'inventory.view or card.view',
} as const;
const editing = {
  tag,
  module: 'bpm',
  permission: 'login',
  permissionNote: 'bpm.edit or card.bpm_edit',
} as const;
const relatingGroup = {
  ...editing,
  permissionNote: 'bpm.edit or card.bpm_edit; relations.manage or card.manage_relations to write relations',
} as const;
const fileHeaders: AnswerHeader[] = ['Content-Disposition', 'ETag'];
const saved = { description: 'The result of the save', schema: schemas.SavedDiagramSchema };

/** Diagrams of processes, and the elements in them. */
export async function registerProcessDiagramRoutes(app: App): Promise<void> {
  const reading = routesOf(app, readingGroup);
  const relating = routesOf(app, relatingGroup);

  reading.get('/api/v1/bpm/processes/:process_id/diagram', {
    id: 'getProcessDiagram',
    summary: 'Read the diagram of a process',
    description: 'Null for a process that has none.',
    query: schemas.VersionQuery,
    answers: ok('The diagram', schemas.DiagramSchema),
    handler: ({ ctx, params, query }) => readDiagram(ctx, params.process_id, query.version),
  });

  relating.put('/api/v1/bpm/processes/:process_id/diagram', {
    id: 'saveProcessDiagram',
    summary: 'Save the diagram of a process as its next version',
    description:
      'The model is stored unchanged. Links of elements are retained by element id. Links of removed elements are deleted, and with the last link to a card the relation that was created for it.',
    body: schemas.DiagramSaveBody,

    bodyLimit: schemas.MODEL_BODY,
    headers: ['If-Match'],
    answers: { 200: saved },
    errors: ['wrong_state', 'query_too_heavy'],
    handler: async ({ ctx, params, body }) => {
      await requireWriter(ctx, params.process_id, rights.edit);
      const model = await readModelText(body.bpmn_xml, 'bpmn_xml');
      const thumbnail = body.svg_thumbnail ? await readThumbnail(body.svg_thumbnail, 'svg_thumbnail') : null;
      const input = { model, thumbnail, dryRun: body.dry_run };
      return await saveDiagram(ctx, params.process_id, input);
    },
  });

  relating.delete('/api/v1/bpm/processes/:process_id/diagram', {
    id: 'deleteProcessDiagram',
    summary: 'Delete the diagram of a process with all its versions, elements and links',
    description: 'Flow versions remain. The batch can be rolled back.',
    headers: ['If-Match'],
    answers: ok('The result of the deletion', schemas.DeletedDiagramSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteDiagram(ctx, params.process_id),
  });

  reading.get('/api/v1/bpm/processes/:process_id/diagram/versions', {
    id: 'listProcessDiagramVersions',
    summary: 'List the versions of a diagram',
    query: listQuery(versionSorts, 'version', {}),
    answers: page('Versions, newest first', schemas.VersionItemSchema),
    handler: ({ ctx, params, query }) => listDiagramVersions(ctx, params.process_id, query),
  });

  reading.get('/api/v1/bpm/processes/:process_id/diagram/export/bpmn', {
    id: 'exportProcessModel',
    summary: 'Download the model',
    description: 'The bytes that were sent, in the encoding of `charset`.',
    query: schemas.VersionQuery,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'BPMN 2.0',
        schema: Type.String({ contentMediaType: 'application/xml' }),
        mediaType: 'application/xml',
        headers: fileHeaders,
      },
    },
    handler: async ({ ctx, params, query, request, reply }) => {
      const file = await exportModel(ctx, params.process_id, query.version);
      return sendDiagramFile(request, reply, file, { ending: 'bpmn', mediaType: 'application/xml' });
    },
  });

  reading.get('/api/v1/bpm/processes/:process_id/diagram/export/svg', {
    id: 'exportProcessPicture',
    summary: 'Download the image of a diagram',
    description:
      'The image that was sent with the model, or else one that is generated from its diagram interchange. Always an attachment that cannot run scripts.',
    query: schemas.VersionQuery,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'SVG',
        schema: Type.String({ contentMediaType: 'image/svg+xml' }),
        mediaType: 'image/svg+xml',
        headers: fileHeaders,
      },
    },
    handler: async ({ ctx, params, query, request, reply }) => {
      const file = await exportPicture(ctx, params.process_id, query.version);
      return sendDiagramFile(request, reply, file, { ending: 'svg', mediaType: 'image/svg+xml' });
    },
  });

  await registerElementRoutes(app);
}

/** Elements of diagrams, and the import of files. */
async function registerElementRoutes(app: App): Promise<void> {
  const reading = routesOf(app, readingGroup);
  const relating = routesOf(app, relatingGroup);

  reading.get('/api/v1/bpm/processes/:process_id/elements', {
    id: 'listProcessElements',
    summary: 'List the elements of a diagram with the cards to which they are linked',
    query: listQuery(elementSorts, 'sequence_order', elementFilters),
    answers: page('Elements, in the order of the document', schemas.ElementItemSchema),
    handler: ({ ctx, params, query }) => listElements(ctx, params.process_id, query),
  });

  relating.put('/api/v1/bpm/processes/:process_id/elements/:element_id', {
    id: 'linkProcessElement',
    summary: 'Link an element to an application, a data object and an IT component',
    description:
      'Replaces the links of the element; absent ones are removed. The first link to a card creates a relation of the process to it; removing the last one deletes that relation, unless somebody has changed it.',
    body: schemas.LinkBody,

    headers: ['If-Match'],
    answers: ok('The element', schemas.ElementSchema, 'ETag'),
    errors: ['wrong_state', 'cardinality_exceeded'],
    handler: ({ ctx, params, body }) =>
      linkElement(ctx, params.process_id, params.element_id, body as LinkInput),
  });

  await registerUploads(app, [FORM], (uploads) => {
    const relating = routesOf(uploads, relatingGroup);
    relating.post('/api/v1/bpm/processes/:process_id/diagram/import', {
      id: 'importProcessDiagram',
      summary: 'Save a BPMN file as the next version of a diagram',
      description: 'Like a save; the file is stored unchanged, in its declared encoding.',
      query: schemas.DryRunQuery,
      consumes: { 'multipart/form-data': { schema: schemas.FileForm } },
      bodyLimit: schemas.MODEL_BODY + FORM_OVERHEAD,
      ownIdempotency: true,
      answers: { 200: saved },
      errors: ['wrong_state', 'query_too_heavy'],
      handler: async ({ ctx, params, query, request, reply }) => {
        await requireWriter(ctx, params.process_id, rights.edit);
        const content = await receiveBuffer(request, modelLimits.bytes);
        if (await applyIdempotencyKey(request, reply, sha256(content))) return reply;
        const model = await readModelFile(content, 'file');
        const input = { model, thumbnail: null, dryRun: query.dry_run };
        return await saveDiagram(ctx, params.process_id, input);
      },
    });
  });
}
