import Type from 'typebox';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { CustomFields } from '../../domain/modelling/bpm/bpm.input.ts';
import { flowStatuses } from '../../domain/modelling/bpm/bpm.types.ts';
import {
  BpmnXml,
  bpmnExample,
  DifferenceCounts,
  differenceMembers,
  LinkBody,
  linkedCards,
  modelElement,
  Thumbnail,
} from './bpm.ts';

export const VersionParams = Type.Object({ process_id: Uuid, version_id: Uuid }, closed);
export const DraftElementParams = Type.Object(
  {
    process_id: Uuid,
    version_id: Uuid,
    bpmn_element_id: Type.String({ minLength: 1, maxLength: 255, description: 'As in the model' }),
  },
  closed,
);
export const CompareQuery = Type.Object(
  {
    base_id: Type.String({ ...Uuid, description: 'The version from which differences are told' }),
    other_id: Type.String({ ...Uuid, description: 'The version to which they lead' }),
  },
  closed,
);

export const FlowCreateBody = Type.Object(
  {
    bpmn_xml: BpmnXml,
    svg_thumbnail: Thumbnail,
    based_on_id: Type.Optional(
      Nullable(
        Type.String({ ...Uuid, description: 'A version of the process, whose planned links are taken over' }),
      ),
    ),
  },
  closed,
);
export const flowExample = { bpmn_xml: bpmnExample };
export const FlowPatchBody = Type.Object(
  { bpmn_xml: Type.Optional(BpmnXml), svg_thumbnail: Thumbnail },
  closed,
);

const Status = Type.Union(flowStatuses.map((status) => Type.Literal(status)));
const flow = {
  id: Uuid,
  process_id: Uuid,
  status: Status,
  revision: Type.Integer({ minimum: 1, description: 'Counts up in a process' }),
  bpmn_xml: Type.String(),
  svg_thumbnail: Nullable(Type.String()),
  warnings: Type.Array(Type.String()),
  created_by: Nullable(Uuid),
  created_by_name: Nullable(Type.String()),
  created_at: Timestamp,
  submitted_by: Nullable(Uuid),
  submitted_by_name: Nullable(Type.String()),
  submitted_at: Nullable(Timestamp),
  approved_by: Nullable(Uuid),
  approved_by_name: Nullable(Type.String()),
  approved_at: Nullable(Timestamp),
  archived_at: Nullable(Timestamp),
  based_on_id: Nullable(Uuid),
  draft_element_links: Nullable(
    Type.Record(
      Type.String(),
      Type.Object(
        {
          application_id: Nullable(Uuid),
          data_object_id: Nullable(Uuid),
          it_component_id: Nullable(Uuid),
          custom_fields: Nullable(OpenObject),
        },
        closed,
      ),
      {
        description:
          'What elements are to be linked to, by their ids in the model; null where nothing is planned',
      },
    ),
  ),
};
export const FlowSchema = Type.Object(flow, { $id: 'ProcessFlowVersion', ...closed });
export const FlowItemSchema = Type.Partial(Type.Object(flow), { $id: 'ProcessFlowVersionItem', ...closed });
/** Null for a process whose flow was never approved. */
export const PublishedSchema = Type.Unsafe({
  ...Nullable(Type.Ref('ProcessFlowVersion#')),
  $id: 'PublishedProcessFlow',
});
export const flowSorts = ['revision', 'created_at', 'archived_at'];

const draftElement = {
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(CustomFields),
  is_planned: Type.Boolean({
    description: 'Whether the version says what it is linked to; else what is in force is told',
  }),
};
export const DraftElementSchema = Type.Object(draftElement, { $id: 'ProcessDraftElement', ...closed });
export const DraftElementItemSchema = Type.Partial(Type.Object(draftElement), {
  $id: 'ProcessDraftElementItem',
  ...closed,
});
export const PlanBody = LinkBody;

const compared = Type.Object({ id: Uuid, revision: flow.revision, status: Status }, closed);
export const ComparisonSchema = Type.Object(
  {
    base: compared,
    other: compared,
    counts: DifferenceCounts,
    ...differenceMembers,
    unchanged: Type.Integer({ minimum: 0 }),
  },
  { $id: 'ProcessFlowComparison', ...closed },
);
export const FlowPermissionsSchema = Type.Object(
  { can_view_drafts: Type.Boolean(), can_edit_draft: Type.Boolean(), can_approve: Type.Boolean() },
  { $id: 'ProcessFlowPermissions', ...closed },
);
