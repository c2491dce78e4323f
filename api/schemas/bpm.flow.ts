import Type from 'typebox';
import { component, Nullable, OpenObject, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CustomFields, FlowVersion } from '../../domain/modelling/bpm/bpm.model.ts';
import { BpmnXml, DifferenceCounts, differenceMembers, linkedCards, modelElement, Thumbnail } from './bpm.ts';
import { answersOf } from './common.ts';

export const DraftElementParams = object({
  process_id: Uuid,
  version_id: Uuid,
  bpmn_element_id: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The element’s id in the model',
  }),
});
export const CompareQuery = object({
  base_id: Type.String({ ...Uuid, description: 'The version to compare with' }),
  other_id: Type.String({ ...Uuid, description: 'The version that is compared' }),
});

export const FlowCreateBody = object({
  bpmn_xml: BpmnXml,
  svg_thumbnail: Thumbnail,
  based_on_id: Type.Optional(
    Nullable(
      Type.String({ ...Uuid, description: 'A version of the process, whose planned links are copied' }),
    ),
  ),
});
export const FlowPatchBody = object({ bpmn_xml: Type.Optional(BpmnXml), svg_thumbnail: Thumbnail });

const {
  content_id: _content,
  thumbnail_id: _thumbnail,
  updated_at: _updated,
  ...columns
} = FlowVersion.columns;
const flow = {
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
export const { whole: FlowSchema, item: FlowItemSchema } = answersOf('ProcessFlowVersion', flow);
/** Null for a process whose flow was never approved. */
export const PublishedSchema = Type.Unsafe({
  ...Nullable(FlowSchema),
  $id: 'PublishedProcessFlow',
});

const draftElement = {
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(CustomFields),
  is_planned: Type.Boolean({
    description: 'Whether the version has planned links; otherwise the active links are returned',
  }),
};
const draftAnswers = answersOf('ProcessDraftElement', draftElement);
export const DraftElementSchema = draftAnswers.whole;
export const DraftElementItemSchema = draftAnswers.item;
const compared = object({ id: Uuid, revision: columns.revision, status: columns.status });
export const ComparisonSchema = component('ProcessFlowComparison', {
  base: compared,
  other: compared,
  counts: DifferenceCounts,
  ...differenceMembers,
  unchanged: Type.Integer({ minimum: 0 }),
});
export const FlowPermissionsSchema = component('ProcessFlowPermissions', {
  can_view_drafts: Type.Boolean(),
  can_edit_draft: Type.Boolean(),
  can_approve: Type.Boolean(),
});
