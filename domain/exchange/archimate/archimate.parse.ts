import { readXml } from '../../../platform/xml.ts';
import { NAMESPACE, PREFIX } from './archimate.map.ts';

/** Maximum length of a model, in characters. */
export const MAX_MODEL = 24 * 1024 * 1024;
const LIMITS = { depth: 64, elements: 3_000_000 };
/** Maximum number of nodes and connections of a view that are read: a larger drawing is refused. */
const MAX_PARTS = 100_000;

interface Concept {
  identifier: string;
  /** Such as `Goal` or `Association`. */
  type: string;
  name: string;
  documentation: string | null;
  /** This service's own properties, without their prefix. */
  properties: Map<string, string>;
  /** Names of the properties that other tools added. */
  foreignProperties: string[];
  /** Number of further languages of its name, documentation and properties; only the first language is read. */
  languages: number;
}
export type ModelElement = Concept;
export interface ModelRelationship extends Concept {
  source: string;
  target: string;
  /** Those of `accessType`, `modifier` and `isDirected` that it has. */
  qualifiers: string[];
}
interface ModelNode {
  identifier: string;
  element: string | null;
  label: string;
  x: number;
  y: number;
  w: number;
  h: number;
}
export interface ModelView extends Concept {
  nodes: ModelNode[];
  connections: { source: string; target: string }[];
}
export interface Model {
  elements: ModelElement[];
  relationships: ModelRelationship[];
  views: ModelView[];
  /** How many times a concept is listed in a folder of the model. */
  inFolders: number;
}

interface Property {
  concept: Concept;
  ref: string;
  values: string[];
}

interface Open {
  name: string;
  attributes: Record<string, string>;
  text: string;
  concept?: Concept;
  node?: ModelNode;
  property?: Property;
}

const QUALIFIERS = ['accessType', 'modifier', 'isDirected'];

/**
 * Reads a model in The Open Group's exchange format.
 * @throws Error with the reason if it is not valid, or too large.
 */
export function parseModel(xml: string): Model {
  if (xml.length > MAX_MODEL) throw new Error(`it has more than ${MAX_MODEL} characters`);
  const model: Model = { elements: [], relationships: [], views: [], inFolders: 0 };
  const definitions = new Map<string, string>();
  const properties: Property[] = [];
  const stack: Open[] = [];
  const inner = <K extends 'concept' | 'node'>(member: K) => stack.findLast((open) => open[member])?.[member];

  const begin = (open: Open) => {
    const { name, attributes } = open;
    const view = stack.findLast((above) => above.concept && 'nodes' in above.concept)?.concept as
      | ModelView
      | undefined;
    if (name === 'element' && stack.at(-1)?.name === 'elements') {
      const element = conceptOf(attributes);
      open.concept = element;
      model.elements.push(element);
    } else if (name === 'relationship' && stack.at(-1)?.name === 'relationships') {
      const { source = '', target = '' } = attributes;
      const qualifiers = QUALIFIERS.filter((name) => attributes[name] !== undefined);
      const relationship = { ...conceptOf(attributes), source, target, qualifiers };
      open.concept = relationship;
      model.relationships.push(relationship);
    } else if (name === 'view') {
      const made: ModelView = { ...conceptOf(attributes), nodes: [], connections: [] };
      open.concept = made;
      model.views.push(made);
    } else if (name === 'node' && view) {
      open.node = nodeOf(attributes);
      if (hasRoom(view)) view.nodes.push(open.node);
    } else if (name === 'connection' && view && hasRoom(view)) {
      view.connections.push({ source: attributes.source ?? '', target: attributes.target ?? '' });
    } else if (name === 'property') {
      const concept = inner('concept');
      const ref = attributes.propertyDefinitionRef;
      if (concept && ref && !inner('node')) {
        open.property = { concept, ref, values: [] };
        properties.push(open.property);
      }
    } else if (name === 'item' && attributes.identifierRef !== undefined) {
      model.inFolders += 1;
    }
  };
  const end = ({ name, attributes, text }: Open) => {
    const above = stack.at(-1);
    if (name === 'propertyDefinition') {
      if (!definitions.has(attributes.identifier ?? '')) {
        definitions.set(attributes.identifier ?? '', attributes.name ?? text.trim());
      }
    } else if (name === 'name' && above?.name === 'propertyDefinition') above.text += text;
    else if (name === 'label' && above?.node) above.node.label ||= text.trim();
    else if (name === 'name' && above?.concept) {
      if (above.concept.name) above.concept.languages += 1;
      else above.concept.name = text;
    } else if (name === 'documentation' && above?.concept) {
      if (above.concept.documentation !== null) above.concept.languages += 1;
      else above.concept.documentation = text;
    } else if (name === 'value') above?.property?.values.push(text);
  };

  readXml(
    xml,
    {
      open(tag) {
        const open: Open = { name: localOf(tag.name), attributes: tag.attributes, text: '' };
        if (
          tag.depth === 1 &&
          (open.name !== 'model' || !Object.values(tag.attributes).includes(NAMESPACE))
        ) {
          throw new Error('it is no model of the ArchiMate exchange format 3');
        }
        begin(open);
        stack.push(open);
      },
      text(piece) {
        const open = stack.at(-1);
        if (open && /^(?:name|documentation|value|label)$/.test(open.name)) open.text += piece;
      },
      close() {
        end(stack.pop()!);
      },
    },
    LIMITS,
  );
  for (const { concept, ref, values } of properties) {
    const key = definitions.get(ref) ?? ref;
    const value = values.at(-1);
    if (!key.startsWith(PREFIX)) {
      concept.foreignProperties.push(key);
      concept.languages += Math.max(0, values.length - 1);
    } else if (value !== undefined) concept.properties.set(key.slice(PREFIX.length), value);
  }
  return model;
}

const hasRoom = ({ nodes, connections }: ModelView) => nodes.length + connections.length <= MAX_PARTS;

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1);

function conceptOf(attributes: Record<string, string>): Concept {
  const type = Object.entries(attributes).find(([key]) => key.includes(':') && localOf(key) === 'type')?.[1];
  return {
    identifier: attributes.identifier ?? '',
    type: localOf(type ?? ''),
    name: '',
    documentation: null,
    properties: new Map(),
    foreignProperties: [],
    languages: 0,
  };
}

function nodeOf(attributes: Record<string, string>): ModelNode {
  const number = (key: string, fallback: number) => {
    const value = Number(attributes[key]);
    return attributes[key] !== undefined && Number.isFinite(value) && Math.abs(value) < 1e6
      ? Math.round(value)
      : fallback;
  };
  return {
    identifier: attributes.identifier ?? '',
    element: attributes.elementRef ?? null,
    label: '',
    x: number('x', 0),
    y: number('y', 0),
    w: Math.max(1, number('w', 120)),
    h: Math.max(1, number('h', 55)),
  };
}
