import type { StoredRow } from '../../kernel/events/row-changes.ts';

/** The type of the cards that are processes. */
export const PROCESS = 'BusinessProcess';

/** The topic of everything that reports read of diagrams and links. */
export const BPM_TOPIC = 'bpm';

/** The kinds of elements that are taken from a model, by their names in BPMN 2.0. */
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

/** Tasks that are carried out by a machine. */
export const automatedTypes: ReadonlySet<ElementType> = new Set([
  'serviceTask',
  'scriptTask',
  'businessRuleTask',
]);

/** One element as a model holds it. */
export interface ModelElement {
  bpmn_element_id: string;
  element_type: ElementType;
  /** Empty where it has none. */
  name: string;
  documentation: string | null;
  lane_name: string | null;
  pool_name: string | null;
  /** The subprocess that it lies in. */
  parent_element_id: string | null;
  is_automated: boolean;
  /** Place in the document, from 0. */
  sequence_order: number;
  /** The elements to which sequence flows lead from it. */
  next_element_ids: string[];
}

/** What an element may be linked to: the link's column, the type of the card, and the relation that follows. */
export const linkKinds = [
  { column: 'application_id', name: 'application_name', type: 'Application', relation: 'relProcessToApp' },
  {
    column: 'data_object_id',
    name: 'data_object_name',
    type: 'DataObject',
    relation: 'relProcessToDataObj',
  },
  {
    column: 'it_component_id',
    name: 'it_component_name',
    type: 'ITComponent',
    relation: 'relProcessToITC',
  },
] as const;
export type LinkColumn = (typeof linkKinds)[number]['column'];

/** What an element is linked to. */
export interface LinkTargets extends Record<LinkColumn, string | null> {
  custom_fields: Record<string, unknown> | null;
}

/** A row of `process_element_links` as its events tell it. */
export interface LinkRow extends LinkTargets, StoredRow {
  id: string;
  process_id: string;
  lineage_id: string;
  flow_version_id: string | null;
  bpmn_element_id: string;
  relation_ids: string[];
}

/** A row of `process_diagrams` as its events tell it. */
export interface DiagramRow extends StoredRow {
  id: string;
  process_id: string;
  lineage_id: string;
  version: number;
  content_id: string;
  thumbnail_id: string | null;
  created_by: string | null;
  created_at: string;
}

export const flowStatuses = ['draft', 'pending', 'published', 'archived'] as const;
export type FlowStatus = (typeof flowStatuses)[number];

/** A row of `process_flow_versions` as its events tell it. */
export interface FlowRow extends StoredRow {
  id: string;
  process_id: string;
  status: FlowStatus;
  revision: number;
  content_id: string;
  thumbnail_id: string | null;
  based_on_id: string | null;
  created_by: string | null;
  submitted_by: string | null;
  submitted_at: string | null;
  approved_by: string | null;
  approved_at: string | null;
  archived_at: string | null;
}

/** A process as far as its events and the decision about it go. */
export interface ProcessCard {
  id: string;
  type: string;
  name: string;
}
