import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import {
  Count,
  component,
  Flag,
  IntegerFrom,
  IntegerIn,
  itemComponent,
  Nullable,
  NullableText,
  OpenObject,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { requireWriter, rights } from '../../../domain/modelling/bpm/bpm.access.ts';
import { ProcessDiagram } from '../../../domain/modelling/bpm/bpm.model.ts';
import { modelLimits } from '../../../domain/modelling/bpm/bpmn.model.ts';
import { readModelFile, readModelText, readThumbnail } from '../../../domain/modelling/bpm/bpmn.read.ts';
import {
  type DiagramFile,
  exportModel,
  exportPicture,
  readDiagram,
  versionList,
} from '../../../domain/modelling/bpm/diagrams.queries.ts';
import { deleteDiagram, saveDiagram } from '../../../domain/modelling/bpm/diagrams.save.ts';
import { elementFilters, elementSorts, listElements } from '../../../domain/modelling/bpm/elements.list.ts';
import { type LinkInput, linkElement } from '../../../domain/modelling/bpm/links.save.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { ResponseHeader } from '../../openapi/headers.ts';
import { file, ok, page, routeGroup, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, receiveBuffer, registerUploads } from '../../uploads.ts';
import {
  BpmnXml,
  DifferenceCounts,
  differenceMembers,
  LinkBody,
  linkedCards,
  MODEL_BODY,
  modelElement,
  Thumbnail,
} from './bpm.schemas.ts';

const DiagramSaveBody = object({
  bpmn_xml: BpmnXml,
  svg_thumbnail: Thumbnail,
  dry_run: Flag('Preview the save without writing'),
});
const DryRunQuery = object({
  dry_run: Flag('Preview the import without writing'),
});
const VersionQuery = object({
  version: Type.Optional(IntegerIn(1, 2_147_483_647, 'An earlier version; by default the current one')),
});
const FileForm = object({
  file: Type.String({ format: 'binary', description: 'A BPMN 2.0 file, at most 2 MiB' }),
});

const Warnings = Type.Array(Type.String(), {
  description: 'What the parser did not understand; the model is stored unchanged',
});
const { id, process_id, version, created_by, created_at } = ProcessDiagram.columns;
const diagram = object({
  id,
  process_id,
  bpmn_xml: Type.String(),
  svg_thumbnail: NullableText('As it was sent'),
  version,
  element_count: Count,
  warnings: Warnings,
  created_by,
  created_at,
});
/** Null for a process that has none. */
const DiagramSchema = Type.Unsafe({ ...Nullable(diagram), $id: 'ProcessDiagram' });
const VersionItemSchema = itemComponent('ProcessDiagramVersion', {
  id,
  version,
  created_by,
  created_at,
});
const outcome = {
  links_removed: IntegerFrom(0, 'Removed elements that had links'),
  relations_removed: IntegerFrom(0, 'Relations that were created for links of which none is left'),
};
const SavedDiagramSchema = component('SavedProcessDiagram', {
  id: Nullable(Uuid),
  process_id: Uuid,
  version,
  element_count: Count,
  dry_run: Type.Boolean(),
  warnings: Warnings,
  element_changes: DifferenceCounts,
  elements_added: differenceMembers.added,
  elements_removed: differenceMembers.removed,
  elements_changed: differenceMembers.changed,
  ...outcome,
  relations_created: Count,
});
const DeletedDiagramSchema = component('DeletedProcessDiagram', {
  ok: Type.Literal(true),
  versions_removed: Count,
  ...outcome,
});
const element = {
  id: Type.String({ ...Uuid, description: 'The same in all versions of the diagram' }),
  process_id: Uuid,
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(OpenObject),
};
const ElementSchema = component('ProcessElement', element);

const tag = 'Processes';
const readingGroup = routeGroup(tag, 'bpm', 'bpm.view', 'inventory.view or card.view');
const editing = routeGroup(tag, 'bpm', 'login', 'bpm.edit or card.bpm_edit');
const relatingGroup = {
  ...editing,
  permissionNote: 'bpm.edit or card.bpm_edit; relations.manage or card.manage_relations to write relations',
} as const;
const fileHeaders: ResponseHeader[] = ['Content-Disposition', 'ETag'];
const saved = { description: 'The result of the save', schema: SavedDiagramSchema };

/** Diagrams of processes, and the elements in them. */
export async function registerProcessDiagramRoutes(app: App): Promise<void> {
  const reading = routesOf(app, readingGroup);
  const relating = routesOf(app, relatingGroup);

  reading.get('getProcessDiagram', '/api/v1/bpm/processes/:process_id/diagram', {
    summary: 'Read the diagram of a process',
    description: 'Null for a process that has none.',
    query: VersionQuery,
    responses: ok('The diagram', DiagramSchema),
    handler: ({ ctx, params, query }) => readDiagram(ctx, params.process_id, query.version),
  });

  relating.put('saveProcessDiagram', '/api/v1/bpm/processes/:process_id/diagram', {
    summary: 'Save the diagram of a process as its next version',
    description:
      'The model is stored unchanged. Links of elements are retained by element id. Links of removed elements are deleted, and with the last link to a card the relation that was created for it.',
    body: DiagramSaveBody,
    bodyLimit: MODEL_BODY,
    ifMatch: true,
    responses: { 200: saved },
    errors: ['wrong_state', 'query_too_heavy'],
    handler: async ({ ctx, params, body }) => {
      await requireWriter(ctx, params.process_id, rights.edit);
      const model = await readModelText(body.bpmn_xml, 'bpmn_xml');
      const thumbnail = body.svg_thumbnail ? await readThumbnail(body.svg_thumbnail, 'svg_thumbnail') : null;
      return await saveDiagram(ctx, params.process_id, { model, thumbnail, dryRun: body.dry_run });
    },
  });

  relating.delete('deleteProcessDiagram', '/api/v1/bpm/processes/:process_id/diagram', {
    summary: 'Delete the diagram of a process with all its versions, elements and links',
    description: 'Flow versions remain. The batch can be rolled back.',
    ifMatch: true,
    responses: ok('The result of the deletion', DeletedDiagramSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteDiagram(ctx, params.process_id),
  });

  reading.list(
    'listProcessDiagramVersions',
    '/api/v1/bpm/processes/:process_id/diagram/versions',
    versionList,
    {
      summary: 'List the versions of a diagram',
      responses: page('Versions, newest first', VersionItemSchema),
    },
  );

  reading.get('exportProcessModel', '/api/v1/bpm/processes/:process_id/diagram/export/bpmn', {
    summary: 'Download the model',
    description: 'The bytes that were sent, in the encoding of `charset`.',
    query: VersionQuery,
    headers: ['If-None-Match'],
    responses: file('BPMN 2.0', 'application/xml', ...fileHeaders),
    handler: async ({ ctx, params, query, request, reply }) => {
      const file = await exportModel(ctx, params.process_id, query.version);
      return sendDiagramFile(request, reply, file, { ending: 'bpmn', mediaType: 'application/xml' });
    },
  });

  reading.get('exportProcessPicture', '/api/v1/bpm/processes/:process_id/diagram/export/svg', {
    summary: 'Download the image of a diagram',
    description:
      'The image that was sent with the model, or else one that is generated from its diagram interchange. Always an attachment that cannot run scripts.',
    query: VersionQuery,
    headers: ['If-None-Match'],
    responses: file('SVG', 'image/svg+xml', ...fileHeaders),
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

  reading.get('listProcessElements', '/api/v1/bpm/processes/:process_id/elements', {
    summary: 'List the elements of a diagram with the cards to which they are linked',
    query: listQuery(elementSorts, 'sequence_order', elementFilters),
    responses: page('Elements, in the order of the document', ElementSchema),
    handler: ({ ctx, params, query }) => listElements(ctx, params.process_id, query),
  });

  relating.put('linkProcessElement', '/api/v1/bpm/processes/:process_id/elements/:element_id', {
    summary: 'Link an element to an application, a data object and an IT component',
    description:
      'Replaces the links of the element; absent ones are removed. The first link to a card creates a relation of the process to it; removing the last one deletes that relation, unless somebody has changed it.',
    body: LinkBody,
    ifMatch: true,
    responses: ok('The element', ElementSchema, 'ETag'),
    errors: ['wrong_state', 'cardinality_exceeded'],
    handler: ({ ctx, params, body }) =>
      linkElement(ctx, params.process_id, params.element_id, body as LinkInput),
  });

  await registerUploads(app, [FORM], (uploads) => {
    const relating = routesOf(uploads, relatingGroup);

    relating.post('importProcessDiagram', '/api/v1/bpm/processes/:process_id/diagram/import', {
      summary: 'Save a BPMN file as the next version of a diagram',
      description: 'Like a save; the file is stored unchanged, in its declared encoding.',
      query: DryRunQuery,
      consumes: { 'multipart/form-data': { schema: FileForm } },
      bodyLimit: MODEL_BODY + FORM_OVERHEAD,
      ownIdempotency: true,
      responses: { 200: saved },
      errors: ['wrong_state', 'query_too_heavy'],
      handler: async ({ ctx, params, query, request, reply }) => {
        await requireWriter(ctx, params.process_id, rights.edit);
        const content = await receiveBuffer(request, modelLimits.bytes);
        if (await applyIdempotencyKey(request, reply, sha256(content))) return reply;
        const model = await readModelFile(content, 'file');
        return await saveDiagram(ctx, params.process_id, { model, thumbnail: null, dryRun: query.dry_run });
      },
    });
  });
}

/** Sends a model or image as an attachment that cannot run scripts. */
function sendDiagramFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DiagramFile,
  kind: { ending: string; mediaType: string },
): FastifyReply {
  const etag = `"${sha256(`${kind.ending} ${file.sha256Of}`)}"`;
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(etag, parseEtags(known))) return reply.code(304).send();
  return reply
    .headers({
      // overrides an encoding declaration in the file (RFC 7303, 3)
      'content-type': `${kind.mediaType}; charset=${file.encoding}`,
      'content-disposition': contentDisposition(`${file.name}.${kind.ending}`),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    .send(file.content);
}
