import { SaxesParser } from 'saxes';

/** What a model may hold at most; far beyond what people draw, and read within a second. */
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
 * type and so no entities, is neither nested nor repeated without end, and no two elements of BPMN have one id. Nothing but
 * these ids is kept on the way.
 * @throws Error saying what is wrong with it.
 */
export function guardBpmn(text: string): void {
  const parser = new SaxesParser({ xmlns: true });
  let depth = 0;
  let elements = 0;
  let attributes = 0;
  let attributesOfOne = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
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
