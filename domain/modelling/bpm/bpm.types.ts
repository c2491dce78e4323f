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

/** A process as events and links need it. */
export interface ProcessCard {
  id: string;
  type: string;
  name: string;
}
