import Type from 'typebox';
import { Internal, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, keyed, Nullable, NullableText, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The type of the cards that are processes. */
export const PROCESS = 'BusinessProcess';

/** The topic of diagrams and links, which reports read. */
export const BPM_TOPIC = 'bpm';

/** The types of elements that are read from a model, by their names in BPMN 2.0. */
export const elementTypes = [
  'task',
  'userTask',
  'serviceTask',
  'scriptTask',
  'businessRuleTask',
  'sendTask',
  'receiveTask',
  'manualTask',
  'callActivity',
  'subProcess',
  'exclusiveGateway',
  'parallelGateway',
  'inclusiveGateway',
  'eventBasedGateway',
  'complexGateway',
  'startEvent',
  'endEvent',
  'intermediateCatchEvent',
  'intermediateThrowEvent',
  'boundaryEvent',
] as const;
export type ElementType = (typeof elementTypes)[number];

/** Automated tasks. */
export const automatedTypes: ReadonlySet<ElementType> = new Set([
  'serviceTask',
  'scriptTask',
  'businessRuleTask',
]);

/** What an element may be linked to: the link's column, the type of the card, and the relation that a link creates. */
export const linkKinds = [
  { column: 'application_id', name: 'application_name', type: 'Application', relation: 'relProcessToApp' },
  { column: 'data_object_id', name: 'data_object_name', type: 'DataObject', relation: 'relProcessToDataObj' },
  { column: 'it_component_id', name: 'it_component_name', type: 'ITComponent', relation: 'relProcessToITC' },
] as const;
export type LinkColumn = (typeof linkKinds)[number]['column'];

export const flowStatuses = ['draft', 'pending', 'published', 'archived'] as const;
export type FlowStatus = (typeof flowStatuses)[number];

/** The steps that follow from an assessment. */
export const ActionItems = Type.Array(
  Type.Record(
    Type.String({ maxLength: 100 }),
    Type.Union([Type.String({ maxLength: 2000 }), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
  {
    maxItems: 100,
    description: 'Follow-up actions, with members of your choice',
    examples: [[{ text: 'Read invoices by machine', due: '2026-09-30' }]],
  },
);

/** Notes about an element beside its links. */
export const CustomFields = keyed(100, Type.Unknown(), {
  description: 'Members of your choice; at most 16 KiB as JSON',
});

/** A BPMN model or an SVG picture, by the hash of its content; contents are never changed. */
export class ProcessContent extends rowModel('process_contents', {
  id: Type.String(),
  kind: Choice(['bpmn', 'svg']),
  text: Type.String(),
  original: Nullable(Type.String()),
  encoding: Type.String(),
  size: Type.Integer(),
  warnings: Type.Array(Type.String()),
  picture: Nullable(Type.String()),
  used_at: Timestamp,
}) {}

/** An element of a model. */
export class ContentElement extends rowModel('process_content_elements', {
  id: Internal(Uuid),
  content_id: Internal(Type.String()),
  bpmn_element_id: Type.String({ description: 'As in the model' }),
  sequence_order: Type.Integer({ minimum: 0, description: 'Position in the document' }),
  element_type: Choice(elementTypes),
  name: Type.String({ description: 'Empty where the element has none' }),
  documentation: Nullable(Type.String()),
  lane_name: NullableText('The innermost lane; for elements in a subprocess, the lane of the subprocess'),
  pool_name: Nullable(Type.String()),
  parent_element_id: NullableText('The subprocess that contains it'),
  is_automated: Type.Boolean({ description: 'A service, script or business rule task' }),
  next_element_ids: SqlArray(Type.String(), { description: 'The targets of its sequence flows' }),
}) {}
/** An element as a model contains it. */
export type ModelElement = Omit<RowOf<typeof ContentElement>, 'id' | 'content_id'>;

/** A saved version of the diagram of a process. */
export class ProcessDiagram extends rowModel('process_diagrams', {
  id: Uuid,
  process_id: Uuid,
  lineage_id: Uuid,
  version: Type.Integer({ minimum: 1 }),
  content_id: Type.String(),
  thumbnail_id: Nullable(Type.String()),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type DiagramRow = RowOf<typeof ProcessDiagram>;

export class FlowVersion extends rowModel('process_flow_versions', {
  id: Uuid,
  process_id: Uuid,
  status: Choice(flowStatuses),
  revision: Type.Integer({ minimum: 1, description: 'Consecutive within a process' }),
  content_id: Internal(Type.String()),
  thumbnail_id: Internal(Nullable(Type.String())),
  based_on_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  submitted_by: Nullable(Uuid),
  submitted_at: Nullable(Timestamp),
  rejection_reason: Nullable(
    Type.String({
      maxLength: 2000,
      description: 'Why the version was rejected; until it is submitted again',
    }),
  ),
  approved_by: Nullable(Uuid),
  approved_at: Nullable(Timestamp),
  archived_at: Nullable(Timestamp),
  updated_at: Internal(Timestamp),
}) {}
export type FlowRow = RowOf<typeof FlowVersion>;

/** The links of an element to cards: in force or, with a flow version, planned. */
export class ElementLink extends rowModel('process_element_links', {
  id: Uuid,
  process_id: Uuid,
  lineage_id: Uuid,
  flow_version_id: Nullable(Uuid),
  bpmn_element_id: Type.String(),
  application_id: Nullable(Uuid),
  data_object_id: Nullable(Uuid),
  it_component_id: Nullable(Uuid),
  custom_fields: Nullable(CustomFields),
  relation_ids: SqlArray(Uuid),
  updated_at: Timestamp,
}) {}
export type LinkRow = RowOf<typeof ElementLink>;
/** What an element is linked to. */
export type LinkTargets = Pick<LinkRow, LinkColumn | 'custom_fields'>;

/** From 1 to 5; the range is left out because writes limit other values to it instead of refusing them. */
const Score = Type.Integer();

export class ProcessAssessment extends rowModel('process_assessments', {
  id: Uuid,
  process_id: Uuid,
  assessor_id: Nullable(Uuid),
  assessment_date: DateOnly,
  overall_score: Score,
  efficiency: Score,
  effectiveness: Score,
  compliance: Score,
  automation: Score,
  notes: Nullable(Type.String({ maxLength: 10_000 })),
  action_items: ActionItems,
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
export type AssessmentRow = RowOf<typeof ProcessAssessment>;
