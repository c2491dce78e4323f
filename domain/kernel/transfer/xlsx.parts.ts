import type { Readable } from 'node:stream';
import yauzl from 'yauzl';
import type { BlobStore } from '../../../platform/blobs.ts';
import { createXmlParser } from '../../../platform/xml.ts';
import { StoredRanges } from '../files/files.store.ts';
import { officeParts } from '../files/office.parts.ts';

/*
 * The parts of a stored workbook, as streams of XML.
 */

/** A stored file. */
export interface StoredWorkbook {
  id: string;
  size: number;
}

/** Maximum unpacked size of all parts, in MiB. */
const MAX_UNPACKED = 512;

/** The parts of an archive, which are streamed: nothing is unpacked to memory or disk. */
export interface Archive {
  has(name: string): boolean;
  /** @throws Error if the part is larger than declared, or corrupt. */
  open(name: string): Promise<Readable>;
  close(): void;
}

/**
 * Opens a stored archive. Declared sizes are checked before any part is unpacked, and no part may exceed its size.
 * @throws Error with the reason why it is refused.
 */
export async function openArchive(blobs: BlobStore, { id, size }: StoredWorkbook): Promise<Archive> {
  const reader = new StoredRanges(blobs, id);
  const zip = await yauzl.fromRandomAccessReaderPromise(reader, size, { autoClose: false }).catch((error) => {
    if (!/end of central directory/i.test((error as Error).message)) throw error;
    throw new Error(
      'it is no workbook in the format XLSX; save one with a password, or of an older format, anew',
    );
  });
  const parts = await officeParts(zip, MAX_UNPACKED).catch((error) => {
    zip.close();
    throw error;
  });
  return {
    has: (name) => parts.has(name),
    async open(name) {
      const entry = parts.get(name);
      if (!entry) throw new Error(`it lacks the part ${name.slice(0, 100)}`);
      return await zip.openReadStreamPromise(entry);
    },
    close: () => zip.close(),
  };
}

const MAX_DEPTH = 64;
/** The parser holds a text or a tag as a whole: longer ones are refused before it has. */
const MAX_PIECE = 4 * 1024 * 1024;

/** Callbacks for the elements of a part. Names are local names: each part uses one vocabulary. */
interface XmlVisitor {
  open(name: string, attributes: (name: string) => string | undefined): void;
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Parses a part as XML in chunks of about 64 KiB, and yields after each so that the results collected by the visitor
 * can be consumed. Document types, and so entities, are refused. @throws Error if it is not valid.
 */
export async function* walkPart(stream: Readable, visitor: XmlVisitor): AsyncGenerator<void> {
  const parser = createXmlParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let depth = 0;
  let held = 0;
  parser.on('opentag', ({ local, attributes }) => {
    held = 0;
    depth += 1;
    if (depth > MAX_DEPTH) throw new Error(`its elements lie more than ${MAX_DEPTH} deep`);
    visitor.open(local, (name) => {
      // Prefixes are chosen by the writer: an attribute with a prefix is found by its local name.
      const found = attributes[name] ?? Object.values(attributes).find((one) => one.local === name);
      return found?.value;
    });
  });
  parser.on('text', (text) => visitor.text?.(text));
  parser.on('cdata', (text) => visitor.text?.(text));
  parser.on('closetag', ({ local }) => {
    held = 0;
    depth -= 1;
    visitor.close?.(local);
  });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held += chunk.length;
    if (held > MAX_PIECE) throw new Error('it has a text that is too long');
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.write(decoder.decode()).close();
  yield;
}

/** Parses a complete part. */
export async function readPart(stream: Readable, visitor: XmlVisitor): Promise<void> {
  for await (const _ of walkPart(stream, visitor));
}
