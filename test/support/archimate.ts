import { NAMESPACE } from '../../domain/exchange/archimate/archimate.map.ts';
import allowedAttributes from './archimate.attributes.json' with { type: 'json' };
import allowedContents from './archimate.contents.json' with { type: 'json' };
import { childrenOf, rootOf, type XmlElement } from './dom.ts';

const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** Elements by the parts of ArchiMate 3.1. */
const elementTypes = new Set(
  `BusinessActor BusinessRole BusinessCollaboration BusinessInterface BusinessProcess BusinessFunction BusinessInteraction
  BusinessEvent BusinessService BusinessObject Contract Representation Product ApplicationComponent ApplicationCollaboration
  ApplicationInterface ApplicationFunction ApplicationInteraction ApplicationProcess ApplicationEvent ApplicationService
  DataObject Node Device SystemSoftware TechnologyCollaboration TechnologyInterface Path CommunicationNetwork
  TechnologyFunction TechnologyProcess TechnologyInteraction TechnologyEvent TechnologyService Artifact Equipment Facility
  DistributionNetwork Material Stakeholder Driver Assessment Goal Outcome Principle Requirement Constraint Meaning Value
  Resource Capability CourseOfAction ValueStream WorkPackage Deliverable ImplementationEvent Plateau Gap Grouping Location
  AndJunction OrJunction`.split(/\s+/),
);
const relationshipTypes = new Set(
  'Composition Aggregation Assignment Realization Serving Access Influence Triggering Flow Specialization Association'.split(
    ' ',
  ),
);
/** What may stand within what, in this order; `*` any number of times, `+` at least once. */
const contents: Record<string, string[]> = allowedContents;
/** The attributes of each element; those with `!` have to be there, and those with `>` name what is there. */
const attributes: Record<string, string[]> = allowedAttributes;

/**
 * What is wrong with a model by the rules of The Open Group's exchange format, as they are described there: which elements
 * and attributes there are and in what order, that identifiers are names of XML and unique, and that references lead to
 * what they should.
 */
export function modelFaults(xml: string): string[] {
  const faults: string[] = [];
  const ids = new Map<string, string>();
  const references: { from: string; kind: string; to: string; id: string }[] = [];
  const visit = (element: XmlElement) => {
    const tag = element.localName;
    const id = element.getAttribute('identifier') ?? '';
    const fault = (why: string) => faults.push(`${tag} ${id} ${why}`);
    if (element.namespaceURI !== NAMESPACE || !contents[tag]) return fault('is not known');
    checkAttributes(element, tag, fault);
    if (id !== '') {
      if (!/^[A-Za-z_][\w.-]*$/.test(id)) fault('has an identifier that is no name');
      if (ids.has(id)) fault('has the identifier of another');
      ids.set(id, tag);
    }
    for (const name of attributes[tag] ?? []) {
      const plain = name.replace(/\W/g, '');
      const to = element.getAttribute(plain);
      if (name.endsWith('>') && to) references.push({ from: tag, kind: plain, to, id });
    }
    let allowed = 0;
    for (const child of childrenOf(element)) {
      const at = contents[tag]!.findIndex(
        (name, n) => n >= allowed && name.replace(/\W/, '') === child.localName,
      );
      if (at < 0) fault(`holds ${child.localName} where none may stand`);
      else allowed = /[*+]$/.test(contents[tag]![at]!) ? at : at + 1;
      visit(child);
    }
    for (const name of contents[tag]!.filter((one) => one.endsWith('+'))) {
      if (!childrenOf(element).some(({ localName }) => localName === name.slice(0, -1)))
        fault(`has no ${name}`);
    }
  };
  visit(rootOf(xml));
  const targets: Record<string, string[]> = {
    propertyDefinitionRef: ['propertyDefinition'],
    elementRef: ['element'],
    relationshipRef: ['relationship'],
  };
  for (const { from, kind, to, id } of references) {
    const ends = from === 'connection' ? ['node', 'connection'] : ['element', 'relationship'];
    if (!(targets[kind] ?? ends).includes(ids.get(to) ?? ''))
      faults.push(`${from} ${id}: ${kind} ${to} leads nowhere`);
  }
  return faults;
}

function checkAttributes(element: XmlElement, tag: string, fault: (why: string) => void): void {
  const known = attributes[tag] ?? [];
  for (const { localName, name } of Array.from(element.attributes).filter(
    ({ name }) => name !== 'xmlns' && !name.startsWith('xmlns:') && name !== 'xsi:schemaLocation',
  )) {
    if (!known.some((one) => one.replace(/\W/g, '') === (localName ?? name)))
      fault(`has an attribute ${name}`);
  }
  const type = element.getAttributeNS(INSTANCE, 'type') || element.getAttribute('type') || '';
  for (const name of known.filter((one) => one.includes('!'))) {
    const plain = name.replace(/\W/g, '');
    if (plain === 'type' ? type === '' : !element.hasAttribute(plain)) fault(`lacks ${plain}`);
  }
  const typed: Record<string, boolean> = {
    element: elementTypes.has(type),
    relationship: relationshipTypes.has(type),
    propertyDefinition: ['string', 'boolean', 'currency', 'date', 'time', 'number'].includes(type),
    view: type === 'Diagram',
    node: ['Element', 'Container', 'Label'].includes(type),
    connection: ['Relationship', 'Line'].includes(type),
  };
  if (typed[tag] === false) fault(`is of the type ${type}`);
  if (tag !== 'node') return;
  const number = (name: string) => Number(element.getAttribute(name) || Number.NaN);
  for (const side of ['x', 'y', 'w', 'h']) {
    const least = side === 'x' || side === 'y' ? 0 : 1;
    if (!Number.isInteger(number(side)) || number(side) < least)
      fault(`has ${side} ${element.getAttribute(side)}`);
  }
}
