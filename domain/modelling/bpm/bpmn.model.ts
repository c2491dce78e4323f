import { BpmnModdle, type ModdleElement } from 'bpmn-moddle';
import { createXmlParser } from '../../../platform/xml.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { automatedTypes, type ElementType, elementTypes, type ModelElement } from './bpm.model.ts';
import { drawModel } from './svg/svg.draw.ts';

/** Supported encodings besides UTF-16, with their names in XML declarations. */
const declared: Record<string, string> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'us-ascii',
  ascii: 'us-ascii',
  'iso-8859-1': 'iso-8859-1',
  latin1: 'iso-8859-1',
  'iso-8859-15': 'iso-8859-15',
  'windows-1252': 'windows-1252',
};

const DECLARATION = /^<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/;

/** The encoding that the bytes show by their mark, or declare (XML 1.0, appendix F). */
function encodingOf(bytes: Buffer): string {
  const [first, second, third, fourth] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x3c && second === 0 && third === 0x3f && fourth === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c && third === 0 && fourth === 0x3f) return 'utf-16be';
  const name = DECLARATION.exec(bytes.toString('latin1', 0, 300))?.[1];
  if (name === undefined) return 'utf-8';
  const known = declared[name.toLowerCase()];
  if (!known) throw new Error(`its encoding ${name} is not read`);
  return known;
}

/** Decodes an XML document; the text keeps a byte order mark. @throws Error for an encoding that is not read, and for bytes that do not fit it. */
export function decodeXml(bytes: Buffer): { text: string; encoding: string } {
  const encoding = encodingOf(bytes);
  // every byte is a character in these: nothing can be wrong with them
  if (encoding === 'us-ascii' && bytes.some((byte) => byte > 0x7f)) {
    throw new Error(`its bytes are not ${encoding}`);
  }
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes), encoding };
  } catch {
    throw new Error(`its bytes are not ${encoding}`);
  }
}

/** Limits of a model, far above those of real models; one at the limits is parsed within a second. */
export const modelLimits = {
  bytes: 2 * 1024 * 1024,
  depth: 100,
  elements: 50_000,
  attributesOfOne: 100,
  attributes: 200_000,
} as const;

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';

/**
 * Goes once through a text, before anything else reads it: it is well-formed XML with namespaces, declares no document
 * type and so no entities, is within the limits, and no two elements of BPMN have the same id. Only the ids are held
 * in memory.
 * @throws Error saying what is wrong with it.
 */
function guardBpmn(text: string): void {
  const parser = createXmlParser();
  let depth = 0;
  let elements = 0;
  let attributes = 0;
  let attributesOfOne = 0;
  parser.on('opentagstart', () => {
    depth += 1;
    elements += 1;
    attributesOfOne = 0;
    if (depth > modelLimits.depth) throw new Error(`its elements lie more than ${modelLimits.depth} deep`);
    if (elements > modelLimits.elements) throw new Error(`it has more than ${modelLimits.elements} elements`);
  });
  parser.on('attribute', () => {
    attributes += 1;
    attributesOfOne += 1;
    if (attributesOfOne > modelLimits.attributesOfOne || attributes > modelLimits.attributes) {
      throw new Error('it has too many attributes');
    }
  });
  const ids = new Set<string>();
  parser.on('opentag', ({ uri, local, attributes: given }) => {
    if (depth === 1 && (uri !== BPMN || local !== 'definitions')) {
      throw new Error('its root is not the element definitions of BPMN 2.0');
    }
    const id = uri === BPMN ? given.id?.value : undefined;
    if (id === undefined) return;
    if (ids.has(id)) throw new Error(`two of its elements have the id ${id}`);
    ids.add(id);
  });
  parser.on('closetag', () => {
    depth -= 1;
  });
  parser.write(text.replace(/^\uFEFF/, '')).close();
}

const typeNames = new Map<string, ElementType>([
  ...elementTypes.map((type) => [`bpmn:${type[0]!.toUpperCase()}${type.slice(1)}`, type] as const),
  // kinds of subprocesses
  ['bpmn:AdHocSubProcess', 'subProcess'],
  ['bpmn:Transaction', 'subProcess'],
]);

const listOf = (value: unknown): ModdleElement[] => (Array.isArray(value) ? (value as ModdleElement[]) : []);
const one = (value: unknown): ModdleElement | undefined =>
  typeof value === 'object' && value !== null ? (value as ModdleElement) : undefined;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The position of an element. */
interface Place {
  pool: string | null;
  lane: string | null;
  parent: string | null;
}

/**
 * The elements of a model, in the order of the document: those of every process, and of the subprocesses within. An
 * element without an id is named by its place.
 * @throws Error where that is another's id.
 * @param definitions the root of a parsed model.
 */
function extractElements(definitions: ModdleElement): ModelElement[] {
  const roots = listOf(definitions.rootElements);
  const pools = new Map<ModdleElement, string>();
  for (const root of roots) {
    for (const participant of listOf(root.participants)) {
      const process = one(participant.processRef);
      if (process && !pools.has(process)) pools.set(process, textOf(participant.name));
    }
  }
  const elements: ModelElement[] = [];
  const used = new Set<string>();
  const next = new Map<ModdleElement, ModdleElement[]>();
  const ids = new Map<ModdleElement, string>();

  const visit = (container: ModdleElement, place: Place) => {
    const lanes = lanesOf(container);
    for (const element of listOf(container.flowElements)) {
      const [source, target] = [one(element.sourceRef), one(element.targetRef)];
      if (element.$type === 'bpmn:SequenceFlow' && source && target) {
        const targets = next.get(source);
        if (targets) targets.push(target);
        else next.set(source, [target]);
      }
      const type = typeNames.get(element.$type);
      if (!type) continue;
      const id = textOf(element.id) || `element-${elements.length}`;
      if (used.has(id)) throw new Error(`two of its elements have the id ${id}`);
      used.add(id);
      ids.set(element, id);
      const lane = lanes.get(element) ?? place.lane;
      elements.push({
        bpmn_element_id: id,
        element_type: type,
        name: textOf(element.name),
        documentation: documentationOf(element),
        lane_name: lane,
        pool_name: place.pool,
        parent_element_id: place.parent,
        is_automated: automatedTypes.has(type),
        sequence_order: elements.length,
        next_element_ids: [],
      });
      visit(element, { pool: place.pool, lane, parent: id });
    }
  };
  for (const root of roots) {
    if (root.$type === 'bpmn:Process') {
      visit(root, { pool: pools.get(root) ?? null, lane: null, parent: null });
    }
  }

  const byId = new Map(elements.map((element) => [element.bpmn_element_id, element]));
  for (const [source, targets] of next) {
    const known = targets.flatMap((target) => ids.get(target) ?? []);
    const element = byId.get(ids.get(source) ?? '');
    if (element) element.next_element_ids = [...new Set(known)];
  }
  return elements;
}

/** The names of the lanes that contain elements; for nested lanes the innermost. */
function lanesOf(container: ModdleElement): Map<ModdleElement, string> {
  const names = new Map<ModdleElement, string>();
  const visit = (set: ModdleElement | undefined) => {
    for (const lane of listOf(set?.lanes)) {
      for (const element of listOf(lane.flowNodeRef)) names.set(element, textOf(lane.name));
      visit(one(lane.childLaneSet));
    }
  };
  for (const set of listOf(container.laneSets)) visit(set);
  return names;
}

function documentationOf(element: ModdleElement): string | null {
  const texts = listOf(element.documentation).map(({ text }) => textOf(text));
  return texts.filter(Boolean).join('\n\n') || null;
}

/** What is taken from a model. */
export interface ModelContent {
  /**
   * Lists of `ModelElement`s: they are stored as they are, and go from thread to thread sooner than objects do. In parts,
   * since others are answered between one and the next.
   */
  elements: JsonText[];
  warnings: string[];
  picture: string | null;
}

/** Why a text is no model, as an error of the field in which it was sent. */
interface ModelError {
  code: string;
  message: string;
}

/** How many warnings of the parser are stored, and their length. */
const WARNINGS = { count: 100, length: 300 };
/** Characters of an element's id, as an index takes them. */
const ID_LENGTH = 255;

const moddle = new BpmnModdle();

/** Reads a model from its decoded text. What it holds without end is refused before anything is built of it. */
export async function readContent(text: string): Promise<{ content: ModelContent } | { error: ModelError }> {
  const refused = (code: string, message: string) => ({ error: { code, message } });
  try {
    guardBpmn(text);
  } catch (error) {
    return refused('format', `cannot be taken: ${oneLine((error as Error).message)}`);
  }
  let parsed: Parsed;
  try {
    // the text is decoded: what its declaration says of bytes is no news to the parser
    parsed = await parse(text.replace(/^\uFEFF?<\?xml[^>]*>/, '').replace(/^\uFEFF/, ''));
  } catch (error) {
    return refused('bpmn', `is no BPMN 2.0: ${oneLine((error as Error).message)}`);
  }
  try {
    const elements = extractElements(parsed.root);
    if (elements.some(({ bpmn_element_id }) => bpmn_element_id.length > ID_LENGTH)) {
      return refused('too_long', `one of its ids has more than ${ID_LENGTH} characters`);
    }
    const picture = drawModel(parsed.root);
    return { content: { elements: inParts(elements), warnings: parsed.warnings, picture } };
  } catch (error) {
    return refused('format', `cannot be taken: ${oneLine((error as Error).message)}`);
  }
}

/** Elements of one part. */
const PART = 2_000;

const inParts = (elements: readonly ModelElement[]): JsonText[] =>
  Array.from({ length: Math.ceil(elements.length / PART) }, (_, n) =>
    JSON.stringify(elements.slice(n * PART, (n + 1) * PART)),
  );

interface Parsed {
  root: ModdleElement;
  warnings: string[];
}

async function parse(text: string): Promise<Parsed> {
  const { rootElement, warnings } = await moddle.fromXML(text, 'bpmn:Definitions');
  const messages = warnings.slice(0, WARNINGS.count).map(({ message }) => oneLine(message));
  if (warnings.length > WARNINGS.count) messages.push(`and ${warnings.length - WARNINGS.count} more`);
  return { root: rootElement, warnings: messages };
}

/** The beginning of a message, which may quote the model. */
export const oneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().slice(0, WARNINGS.length).toWellFormed();
