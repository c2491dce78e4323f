import { SaxesParser } from 'saxes';

/** An element as its start tag is in the text. */
export interface XmlTag {
  name: string;
  /** Decoded values, in the order of the text. */
  attributes: Record<string, string>;
  /** Where the start tag begins and ends in the text, in UTF-16 units. */
  start: number;
  end: number;
  isEmpty: boolean;
  /** 1 for the root. */
  depth: number;
}

interface XmlHandlers {
  open(tag: XmlTag): void;
  /** `start` and `end` are those of the end tag, or of an empty element's only tag. */
  close?(name: string, start: number, end: number): void;
  /** Decoded text and CDATA, in pieces. */
  text?(text: string): void;
}

/** How much a text may hold before it is refused. */
interface XmlLimits {
  depth: number;
  elements: number;
}

/** Attributes of one element, at most. */
const MAX_ATTRIBUTES = 10_000;

/**
 * Reads a text as XML, piece by piece, in one pass. Document types, and so entities, and processing instructions are
 * refused, and so is what is nested or repeated without end.
 * @throws Error saying what is wrong with it.
 */
export function readXml(text: string, handlers: XmlHandlers, limits: XmlLimits): void {
  const parser = new SaxesParser();
  let depth = 0;
  let elements = 0;
  let attributes = 0;
  let start = 0;
  const refuse = (why: string) => {
    throw new Error(why);
  };
  parser.on('error', ({ message }) => refuse(`it is not well-formed (${message})`));
  parser.on('doctype', () => refuse('it declares a document type'));
  parser.on('processinginstruction', () => refuse('it holds a processing instruction'));
  // the name ends at the position, and holds no angle bracket
  parser.on('opentagstart', () => {
    start = text.lastIndexOf('<', parser.position - 1);
    attributes = 0;
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) refuse(`an element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    depth += 1;
    elements += 1;
    if (depth > limits.depth) refuse(`its elements lie more than ${limits.depth} deep`);
    if (elements > limits.elements) refuse(`it has more than ${limits.elements} elements`);
    handlers.open({ name, attributes, start, end: parser.position, isEmpty: isSelfClosing, depth });
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    const end = parser.position;
    handlers.close?.(name, text.lastIndexOf('<', end - 1), end);
  });
  parser.on('text', (piece) => handlers.text?.(piece));
  parser.on('cdata', (piece) => handlers.text?.(piece));
  parser.write(text).close();
}

/**
 * A parser that resolves namespaces, and refuses what is not well-formed, and document types and so entities: its calls
 * throw an Error with the reason.
 */
export function createXmlParser(): SaxesParser<{ xmlns: true }> {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
  return parser;
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** A text as it is in HTML, between tags and in an attribute's quotes. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes[sign]!);

/** A text as it is in an attribute's quotes; line breaks survive the reader's normalisation. */
export function xmlAttribute(text: string): string {
  return storable(text).replace(/[&<>"'\n\r\t]/g, (sign) => escapes[sign]!);
}

/** A text as it is between tags. */
export function xmlText(text: string): string {
  return storable(text).replace(/[&<>\r]/g, (sign) => escapes[sign]!);
}

/** Without what no XML can hold, in whatever form (XML 1.0, 2.2). */
function storable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}
