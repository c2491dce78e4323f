import { isUuid } from '../../../platform/uuid.ts';
import { readXml, xmlAttribute } from '../../../platform/xml.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { isObject } from '../../kernel/shapes.ts';
import { insertDiagram } from '../../modelling/diagrams/diagrams.commands.ts';
import { DiagramGroup, type DiagramInput, groupEvent } from '../../modelling/diagrams/diagrams.load.ts';
import { htmlText } from '../../modelling/diagrams/drawing.work.ts';
import { NAMESPACE, PREFIX, valuesOf } from './archimate.map.ts';

const BOX = 'rounded=1;whiteSpace=wrap;html=1;';
const LINE = 'edgeStyle=orthogonalEdgeStyle;rounded=1;html=1;endArrow=open;';

/** A view of another tool as a drawing; `cards` are the ids of its elements' cards. */
function drawnView(
  view: ModelView,
  cards: ReadonlyMap<string, string>,
  nameOf: (element: string) => string,
): string {
  const known = new Map(view.nodes.map(({ identifier }, at) => [identifier, `node-${at}`]));
  const boxes = view.nodes.map(({ element, label, x, y, w, h }, at) => {
    const text = xmlAttribute(htmlText(label || (element ? nameOf(element) : '')));
    const geometry = `<mxGeometry x="${x}" y="${y}" width="${w}" height="${h}" as="geometry"/>`;
    const cell = (more: string) => `<mxCell${more} style="${BOX}" vertex="1" parent="1">${geometry}</mxCell>`;
    const id = element ? cards.get(element) : undefined;
    if (!id) return cell(` id="node-${at}" value="${text}"`);
    return `<UserObject id="node-${at}" label="${text}" cardId="${id}">${cell('')}</UserObject>`;
  });
  const lines = view.connections.flatMap(({ source, target }, at) => {
    const [from, to] = [known.get(source), known.get(target)];
    if (!from || !to) return [];
    return `<mxCell id="line-${at}" style="${LINE}" edge="1" parent="1" source="${from}" target="${to}"><mxGeometry relative="1" as="geometry"/></mxCell>`;
  });
  const root = ['<mxCell id="0"/>', '<mxCell id="1" parent="0"/>', ...boxes, ...lines];
  return `<mxGraphModel><root>${root.join('')}</root></mxGraphModel>`;
}

interface ViewCards {
  /** Ids of cards by the identifiers of elements. */
  ids: ReadonlyMap<string, string>;
  nameOf(element: string): string;
}

/**
 * Creates a diagram from a view. A view that this service exported becomes the same diagram, with its id unless a
 * diagram with this id exists already: that one is not changed.
 * @param again whether a view that the caller has imported before is left unchanged.
 * @throws EstateError for a drawing that is not valid.
 */
export async function importView(
  work: Work,
  ctx: Ctx,
  view: ModelView,
  { ids, nameOf }: ViewCards,
  again: boolean,
): Promise<'created' | 'unchanged'> {
  const values = valuesOf(view.properties);
  const id = values.get('id');
  const isOwn = typeof id === 'string' && isUuid(id);
  if (!isOwn && again && (await isThere(work, ctx, view.identifier))) return 'unchanged';
  if (isOwn && (await work.sql('diagrams').where({ id }).first('id'))) return 'unchanged';
  const drawing = values.get('drawing');
  const xml = typeof drawing === 'string' ? drawing : drawnView(view, ids, nameOf);
  const { settings, thumbnail, description } = Object.fromEntries(values);
  const input: DiagramInput = {
    name: view.name.trim().slice(0, 200) || view.identifier.slice(0, 200) || 'View',
    description: typeof description === 'string' ? description : view.documentation,
    data: {
      ...(isObject(settings) ? settings : {}),
      ...(isOwn ? {} : { [SOURCE]: view.identifier }),
      xml,
      ...(typeof thumbnail === 'string' ? { thumbnail } : {}),
    },
    card_ids: await knownCards(work, values.get('card_ids')),
    ...(await audienceOf(work, ctx, values)),
  };
  const group_ids = await groupsOf(work, values.get('groups'));
  await insertDiagram(work, ctx, input, { ...(isOwn ? { id } : {}), group_ids });
  return 'created';
}

/** The setting in which a diagram stores the identifier of its view. */
const SOURCE = 'archimate_view';

async function isThere({ sql }: Work, ctx: Ctx, identifier: string): Promise<boolean> {
  const row = await sql('diagrams')
    .whereRaw('settings ->> ? = ?', [SOURCE, identifier])
    .whereRaw('(private_to is null or private_to = ?)', [ctx.caller.userId])
    .first('id');
  return row !== undefined;
}

/** The sharing of the diagram: users are found by their addresses; without any the diagram is private. */
async function audienceOf(
  { sql }: Work,
  ctx: Ctx,
  values: ReadonlyMap<string, unknown>,
): Promise<Pick<DiagramInput, 'visibility' | 'shared_with'>> {
  const visibility = values.get('visibility');
  if (visibility !== 'private' && visibility !== 'shared') return { visibility: 'public' };
  const shares = values.get('shared_with');
  const editors = new Map(
    (visibility === 'shared' && Array.isArray(shares) ? shares : [])
      .filter(isObject)
      .map(({ email, can_edit }) => [String(email).toLowerCase(), can_edit === true]),
  );
  const people: { id: string; email: string }[] = await sql('users')
    .whereRaw('lower(email) = any(?::text[])', [[...editors.keys()]])
    .where({ is_active: true })
    .whereNot({ id: ctx.caller.userId })
    .orderBy('id')
    .limit(100)
    .select('id', 'email');
  if (people.length === 0) return { visibility: 'private' };
  return {
    visibility: 'shared',
    shared_with: people.map(({ id, email }) => ({
      user_id: id,
      can_edit: editors.get(email.toLowerCase())!,
    })),
  };
}

/** The ids that are cards of visible types. */
async function knownCards({ sql, metamodel }: Work, ids: unknown): Promise<string[]> {
  if (!Array.isArray(ids)) return [];
  return await sql('cards')
    .whereRaw('id = any(?::uuid[])', [ids.map(String).filter(isUuid)])
    .whereIn('type', metamodel.visibleTypes)
    .orderBy('id')
    .pluck('id');
}

/** The groups with these names; missing ones are created. */
async function groupsOf({ sql, emit }: Work, groups: unknown): Promise<string[]> {
  if (!Array.isArray(groups)) return [];
  const ids: string[] = [];
  for (const group of groups.filter(isObject)) {
    const name = String(group.name).trim().slice(0, 200);
    const color = /^#[0-9a-f]{6}$/i.test(String(group.color)) ? String(group.color) : null;
    const sort_order = Number.isInteger(group.sort_order) ? Number(group.sort_order) : 0;
    if (!name) continue;
    const known = await sql('diagram_groups').whereRaw('lower(name) = lower(?)', [name]).first('id');
    if (known) ids.push(known.id);
    else {
      const row = await insertRow(sql, DiagramGroup, { name, color, sort_order });
      emit(groupEvent(null, row));
      ids.push(row.id);
    }
  }
  return [...new Set(ids)].sort();
}

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
