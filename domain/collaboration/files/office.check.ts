import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import type { FileKindKey } from './files.types.ts';
import { walkXml } from './xml.walk.ts';

const MAX_ENTRIES = 10_000;
/** What all parts together may unpack to: 200 MiB. */
const MAX_UNPACKED = 200 * 1024 * 1024;
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
 * Which kind of office document an archive is. The parts are counted by what the archive says of them; none but the
 * list of content types is unpacked, and that not beyond what it may hold.
 * @throws Error saying why it is none.
 */
export async function officeKind(content: Buffer): Promise<FileKindKey> {
  const zip = await yauzl.fromBufferPromise(content, { lazyEntries: true, autoClose: false });
  if (zip.entryCount > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} parts`);
  const names = new Set<string>();
  let unpacked = 0;
  let types: string | undefined;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (unpacked > MAX_UNPACKED) throw new Error('it unpacks to more than 200 MiB');
    if (entry.isEncrypted()) throw new Error('it is encrypted');
    if (names.has(entry.fileName)) throw new Error('it contains a part twice');
    if (/vbaProject/i.test(entry.fileName)) throw new Error('it contains macros');
    names.add(entry.fileName);
    if (entry.fileName === CONTENT_TYPES) types = await readText(zip, entry);
  }
  if (types === undefined) throw new Error('it is an archive, but no office document');
  return kindOf(types, names);
}

async function readText(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > MAX_CONTENT_TYPES) throw new Error('its list of content types is too long');
  const stream: Readable = await zip.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  // A stream that exceeds its declared size ends with its own error.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_CONTENT_TYPES) throw new Error('its list of content types is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function kindOf(types: string, names: ReadonlySet<string>): FileKindKey {
  let kind: FileKindKey | undefined;
  walkXml(types.replace(/^\uFEFF/, ''), ({ uri, local, attributes }) => {
    if (uri !== NAMESPACE || local !== 'Override') return;
    const value = (name: string) => attributes.find((attribute) => attribute.local === name)?.value ?? '';
    const contentType = value('ContentType');
    if (/macroEnabled|vbaProject/i.test(contentType)) throw new Error('it contains macros');
    if (Object.hasOwn(mainParts, contentType) && names.has(value('PartName').replace(/^\//, ''))) {
      kind ??= mainParts[contentType];
    }
  });
  if (!kind) throw new Error('it is no text, spreadsheet or presentation');
  return kind;
}
