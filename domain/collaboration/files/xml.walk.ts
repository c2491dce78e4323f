import type { SaxesAttributeNS } from 'saxes';
import { createXmlParser } from '../../../platform/xml.ts';

const MAX_DEPTH = 256;
const MAX_ELEMENTS = 500_000;

/** An element with its name and attributes, namespaces resolved. */
export interface XmlElement {
  uri: string;
  local: string;
  attributes: { uri: string; local: string; value: string }[];
  /** 1 for the root. */
  depth: number;
}

/**
 * Reads a text as XML with namespaces, element by element. Document types, and so entities, are refused, and so is
 * what is nested or repeated without end.
 * @throws Error with the reason if it is not valid.
 */
export function walkXml(text: string, visit: (element: XmlElement) => void): void {
  const parser = createXmlParser();
  let depth = 0;
  let elements = 0;
  parser.on('processinginstruction', ({ target }) => {
    throw new Error(`it contains the processing instruction ${target}`);
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    depth += 1;
    elements += 1;
    if (depth > MAX_DEPTH) throw new Error(`its elements lie more than ${MAX_DEPTH} deep`);
    if (elements > MAX_ELEMENTS) throw new Error(`it has more than ${MAX_ELEMENTS} elements`);
    visit({ uri, local, attributes: Object.values(attributes) as SaxesAttributeNS[], depth });
  });
  parser.on('closetag', () => {
    depth -= 1;
  });
  parser.write(text).close();
}
