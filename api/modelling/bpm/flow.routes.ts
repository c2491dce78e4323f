import Type from 'typebox';
import {
  BooleanOf,
  Clearable,
  Count,
  component,
  FilledText,
  Nullable,
  OpenObject,
  object,
  partialObject,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { requireWriter, rights } from '../../../domain/modelling/bpm/bpm.access.ts';
import { CustomFields, FlowVersion } from '../../../domain/modelling/bpm/bpm.model.ts';
import { readModelText, readThumbnail } from '../../../domain/modelling/bpm/bpmn.read.ts';
import { elementFilters, elementSorts } from '../../../domain/modelling/bpm/elements.list.ts';
import {
  approveFlow,
  createDraft,
  deleteDraft,
  patchDraft,
  planLink,
  rejectFlow,
  submitFlow,
} from '../../../domain/modelling/bpm/flow.commands.ts';
import { listDraftElements } from '../../../domain/modelling/bpm/flow.links.ts';
import {
  compareFlows,
  flowArchive,
  flowDrafts,
  readFlow,
  readFlowPermissions,
  readPublished,
} from '../../../domain/modelling/bpm/flow.list.ts';
import type { LinkInput } from '../../../domain/modelling/bpm/links.save.ts';
import { created, ok, page, routeGroup, routesOf } from '../../operation.ts';
import { listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
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

const DraftElementParams = object({
  process_id: Uuid,
  version_id: Uuid,
  bpmn_element_id: FilledText(255, 'The element’s id in the model'),
});
const CompareQuery = object({
  base_id: Type.String({ ...Uuid, description: 'The version to compare with' }),
  other_id: Type.String({ ...Uuid, description: 'The version that is compared' }),
});

const FlowCreateBody = object({
  bpmn_xml: BpmnXml,
  svg_thumbnail: Thumbnail,
  based_on_id: Clearable(
    Type.String({ ...Uuid, description: 'A version of the process, whose planned links are copied' }),
  ),
});
const FlowPatchBody = object({ bpmn_xml: Type.Optional(BpmnXml), svg_thumbnail: Thumbnail });

const columns = FlowVersion.shown.columns;
const flowMembers = {
  ...columns,
  bpmn_xml: Type.String(),
  svg_thumbnail: Nullable(Type.String()),
  warnings: Type.Array(Type.String()),
  created_by_name: Nullable(Type.String()),
  submitted_by_name: Nullable(Type.String()),
  approved_by_name: Nullable(Type.String()),
  draft_element_links: Nullable(
    Type.Record(
      Type.String(),
      object({
        application_id: Nullable(Uuid),
        data_object_id: Nullable(Uuid),
        it_component_id: Nullable(Uuid),
        custom_fields: Nullable(OpenObject),
      }),
      {
        description: 'The planned links of elements, by their ids in the model; null without planned links',
      },
    ),
  ),
};
const FlowSchema = component('ProcessFlowVersion', flowMembers);
/** Null for a process whose flow was never approved. */
const PublishedSchema = Type.Unsafe({
  ...Nullable(FlowSchema),
  $id: 'PublishedProcessFlow',
});

const draftElement = {
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(CustomFields),
  is_planned: BooleanOf('Whether the version has planned links; otherwise the active links are returned'),
};
const DraftElementSchema = component('ProcessDraftElement', draftElement);
const compared = object({ id: Uuid, revision: columns.revision, status: columns.status });
const ComparisonSchema = component('ProcessFlowComparison', {
  base: compared,
  other: compared,
  counts: DifferenceCounts,
  ...differenceMembers,
  unchanged: Count,
});
const FlowPermissionsSchema = component('ProcessFlowPermissions', {
  can_view_drafts: Type.Boolean(),
  can_edit_draft: Type.Boolean(),
  can_approve: Type.Boolean(),
});

const tag = 'Processes';
const viewingGroup = routeGroup(tag, 'bpm', 'login', 'bpm.view or card.view');
const draftingGroup = routeGroup(tag, 'bpm', 'login', 'bpm.manage_drafts or card.bpm_manage_drafts');
const listed = listResponse(FlowSchema);
const written = ok('The version', FlowSchema, 'ETag');
const changing = {
  ifMatch: true,
  responses: written,
  errors: ['wrong_state' as const, 'query_too_heavy' as const],
};
const idsOf = (params: { process_id: string; version_id: string }) => ({
  process: params.process_id,
  version: params.version_id,
});
const pictureOf = async (text: string | null | undefined) =>
  text === undefined ? undefined : text === null ? null : await readThumbnail(text, 'svg_thumbnail');

/** Versions of the flow of a process: drafted, submitted, approved. */
export function registerProcessFlowRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Processes' });
  const viewing = routesOf(app, viewingGroup);
  const drafting = routesOf(app, draftingGroup);

  routes.get('getPublishedProcessFlow', '/api/v1/bpm/processes/:process_id/flow/published', {
    module: 'bpm',
    permission: 'bpm.view',
    permissionNote: 'inventory.view or card.view',
    summary: 'Read the published version of a flow',
    description: 'Null for a process whose flow was never approved.',
    responses: ok('The version', PublishedSchema),
    handler: ({ ctx, params }) => readPublished(ctx, params.process_id),
  });

  viewing.list('listProcessFlowDrafts', '/api/v1/bpm/processes/:process_id/flow/drafts', flowDrafts, {
    summary: 'List the drafts and pending versions of a flow',
    description: 'A page of more than 32 MiB is refused: use `fields` without `bpmn_xml`, or a smaller page.',
    responses: ok('Versions, newest first', listed),
  });

  drafting.post('createProcessFlowDraft', '/api/v1/bpm/processes/:process_id/flow/drafts', {
    summary: 'Create a draft',
    description: 'With `based_on_id` it plans the links of that version for the elements that both contain.',
    body: FlowCreateBody,
    bodyLimit: MODEL_BODY,
    responses: created('The draft', FlowSchema),
    errors: ['wrong_state', 'query_too_heavy'],
    handler: async ({ ctx, params, body }) => {
      await requireWriter(ctx, params.process_id, rights.drafts);
      return await createDraft(ctx, params.process_id, {
        model: await readModelText(body.bpmn_xml, 'bpmn_xml'),
        thumbnail: (await pictureOf(body.svg_thumbnail)) ?? null,
        based_on_id: body.based_on_id ?? null,
      });
    },
  });

  viewing.list('listArchivedProcessFlows', '/api/v1/bpm/processes/:process_id/flow/archived', flowArchive, {
    summary: 'List the archived versions of a flow',
    responses: ok('Versions, newest first', listed),
  });

  viewing.get('getProcessFlowPermissions', '/api/v1/bpm/processes/:process_id/flow/permissions', {
    summary: 'Read what the caller may do with a flow',
    responses: ok('What is allowed', FlowPermissionsSchema),
    handler: ({ ctx, params }) => readFlowPermissions(ctx, params.process_id),
  });

  viewing.get('compareProcessFlows', '/api/v1/bpm/processes/:process_id/flow/compare', {
    summary: 'Compare two versions of a flow, element by element',
    description: 'Elements are compared by their ids, with their planned links.',
    query: CompareQuery,
    responses: ok('The differences', ComparisonSchema),
    handler: async ({ ctx, params, query }) => {
      return await compareFlows(ctx, params.process_id, { base: query.base_id, other: query.other_id });
    },
  });

  viewing.get('getProcessFlow', '/api/v1/bpm/processes/:process_id/flow/versions/:version_id', {
    summary: 'Read one version of a flow',
    responses: ok('The version', FlowSchema),
    handler: ({ ctx, params }) => readFlow(ctx, params.process_id, params.version_id),
  });

  drafting.patch('patchProcessFlow', '/api/v1/bpm/processes/:process_id/flow/versions/:version_id', {
    ...changing,
    summary: 'Change a draft',
    description: 'Planned links of elements that a new model does not contain are deleted.',
    body: FlowPatchBody,
    bodyLimit: MODEL_BODY,
    handler: async ({ ctx, params, body }) => {
      await requireWriter(ctx, params.process_id, rights.drafts);
      const model = body.bpmn_xml === undefined ? undefined : await readModelText(body.bpmn_xml, 'bpmn_xml');
      const patch = { model, thumbnail: await pictureOf(body.svg_thumbnail) };
      return await patchDraft(ctx, idsOf(params), patch);
    },
  });

  drafting.delete('deleteProcessFlow', '/api/v1/bpm/processes/:process_id/flow/versions/:version_id', {
    ...changing,
    responses: { 204: { description: 'Deleted' } },
    summary: 'Delete a draft',
    handler: ({ ctx, params }) => deleteDraft(ctx, idsOf(params)),
  });

  registerFlowApprovalRoutes(app);
}

/** Approval of drafts, and their elements. */
function registerFlowApprovalRoutes(app: App): void {
  const drafting = routesOf(app, draftingGroup);
  const approving = routesOf(app, routeGroup(tag, 'bpm', 'login', 'bpm.approve_flows or card.bpm_approve'));
  const viewing = routesOf(app, viewingGroup);

  drafting.post('submitProcessFlow', '/api/v1/bpm/processes/:process_id/flow/versions/:version_id/submit', {
    ...changing,
    summary: 'Submit a draft for approval',
    description:
      'Users whose stakeholder role on the process allows approval, or otherwise all users who can approve flows, get a to-do and a notification.',
    handler: ({ ctx, params }) => submitFlow(ctx, idsOf(params)),
  });

  approving.post(
    'approveProcessFlow',
    '/api/v1/bpm/processes/:process_id/flow/versions/:version_id/approve',
    {
      ...changing,
      summary: 'Approve a submitted version',
      description:
        'It is published, the previously published version is archived, and it becomes the diagram of the process with its planned links. Creating or deleting relations for these links requires relations.manage or card.manage_relations.',
      errors: ['wrong_state', 'cardinality_exceeded'],
      handler: ({ ctx, params }) => approveFlow(ctx, idsOf(params)),
    },
  );

  approving.post('rejectProcessFlow', '/api/v1/bpm/processes/:process_id/flow/versions/:version_id/reject', {
    ...changing,
    summary: 'Reject a submitted version, which becomes a draft again',
    description: 'Its author and the user who has submitted it are notified, with the reason.',
    body: partialObject({ reason: columns.rejection_reason }),
    handler: ({ ctx, params, body }) => rejectFlow(ctx, idsOf(params), body.reason),
  });

  viewing.get(
    'listProcessDraftElements',
    '/api/v1/bpm/processes/:process_id/flow/versions/:version_id/draft-elements',
    {
      summary: 'List the elements of a version with the cards to which they are to be linked',
      query: listQuery(elementSorts, 'sequence_order', elementFilters),
      responses: page('Elements, in the order of the document', DraftElementSchema),
      handler: ({ ctx, params, query }) => listDraftElements(ctx, idsOf(params), query),
    },
  );

  drafting.put(
    'planProcessDraftLink',
    '/api/v1/bpm/processes/:process_id/flow/versions/:version_id/draft-elements/:bpmn_element_id',
    {
      summary: 'Plan the links of an element of a draft',
      description: 'Replaces the planned links; they take effect with the approval.',
      params: DraftElementParams,
      body: LinkBody,
      responses: ok('The element', DraftElementSchema),
      errors: ['wrong_state'],
      handler: ({ ctx, params, body }) =>
        planLink(ctx, idsOf(params), params.bpmn_element_id, body as LinkInput),
    },
  );
}
