import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { officeParts } from '../../kernel/files/office.parts.ts';
import type { FileKindKey } from './files.types.ts';
import { walkXml } from './xml.walk.ts';

/** What all parts together may unpack to, in MiB. */
const MAX_UNPACKED = 200;
const MAX_CONTENT_TYPES = 1024 * 1024;
const CONTENT_TYPES = '[Content_Types].xml';
const NAMESPACE = 'http://schemas.openxmlformats.org/package/2006/content-types';
const vendor = 'application/vnd.openxmlformats-officedocument';

/** The main parts of documents without macros (ECMA-376), by their content type. */
const mainParts: Record<string, FileKindKey> = {
  [`${vendor}.wordprocessingml.document.main+xml`]: 'docx',
  [`${vendor}.spreadsheetml.sheet.main+xml`]: 'xlsx',
  [`${vendor}.presentationml.presentation.main+xml`]: 'pptx',
};

/**
 * Detects which kind of office document an archive is. Every part is unpacked, since a declared size may be wrong.
 * @throws Error saying why it is none.
 */
export async function officeKind(content: Buffer): Promise<FileKindKey> {
  const zip = await yauzl.fromBufferPromise(content, { lazyEntries: true, autoClose: false });
  const parts = await officeParts(zip, MAX_UNPACKED);
  let types: string | undefined;
  for (const entry of parts.values()) {
    const text = await readPart(zip, entry);
    if (entry.fileName === CONTENT_TYPES) types = text;
  }
  if (types === undefined) throw new Error('it is an archive, but no office document');
  return kindOf(types, parts);
}

/** Unpacks a part. @returns the text of the list of content types; of other parts only the beginning. */
async function readPart(zip: ZipFile, entry: Entry): Promise<string> {
  const isTypes = entry.fileName === CONTENT_TYPES;
  const stream: Readable = await zip.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let read = 0;
  // a stream that has another size than declared ends with an error of its own
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (isTypes && read > MAX_CONTENT_TYPES) throw new Error('its list of content types is too long');
    if (isTypes || chunks.length === 0) chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  // also in UTF-16; the format has no document types (ECMA-376, part 2)
  if (/\.(xml|rels)$/i.test(entry.fileName) && text.replaceAll('\0', '').includes('<!DOCTYPE'))
    throw new Error('it contains XML with a document type');
  return text;
}

function kindOf(types: string, parts: ReadonlyMap<string, Entry>): FileKindKey {
  let kind: FileKindKey | undefined;
  walkXml(types.replace(/^\uFEFF/, ''), ({ uri, local, attributes }) => {
    if (uri !== NAMESPACE || local !== 'Override') return;
    const value = (name: string) => attributes.find((attribute) => attribute.local === name)?.value ?? '';
    const contentType = value('ContentType');
    if (/macroEnabled|vbaProject/i.test(contentType)) throw new Error('it contains macros');
    if (Object.hasOwn(mainParts, contentType) && parts.has(value('PartName').replace(/^\//, ''))) {
      kind ??= mainParts[contentType];
    }
  });
  if (!kind) throw new Error('it is no text, spreadsheet or presentation');
  return kind;
}
