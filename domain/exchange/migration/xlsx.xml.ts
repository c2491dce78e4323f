import type { Readable } from 'node:stream';
import { SaxesParser } from 'saxes';

const MAX_DEPTH = 64;

/** What is made of the elements of a part as they go by. Names are local ones: parts hold one vocabulary each. */
export interface XmlVisitor {
  open(name: string, attributes: (name: string) => string | undefined): void;
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Reads a part as XML in pieces of some 64 KiB, and yields after each so that what the visitor has gathered can be handed
 * on. Document types, and so entities, are refused.
 * @throws Error saying what is wrong with it.
 */
export async function* walkPart(stream: Readable, visitor: XmlVisitor): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: true });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let depth = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
  parser.on('opentag', ({ local, attributes }) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new Error(`its elements lie more than ${MAX_DEPTH} deep`);
    visitor.open(local, (name) => {
      // prefixes are the writer's own: an attribute with one is found by its local name
      const found = attributes[name] ?? Object.values(attributes).find((one) => one.local === name);
      return found?.value;
    });
  });
  parser.on('text', (text) => visitor.text?.(text));
  parser.on('cdata', (text) => visitor.text?.(text));
  parser.on('closetag', ({ local }) => {
    depth -= 1;
    visitor.close?.(local);
  });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.write(decoder.decode()).close();
  yield;
}

/** Reads a whole part. */
export async function readPart(stream: Readable, visitor: XmlVisitor): Promise<void> {
  for await (const _ of walkPart(stream, visitor));
}
