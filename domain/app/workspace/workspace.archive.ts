import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import type { BlobStore } from '../../../platform/blobs.ts';
import { StoredRanges } from '../../kernel/files/files.store.ts';
import { contentTable, PEOPLE, SETTINGS } from './workspace.tables.ts';

/** The description of an archive. */
export const FORMAT = 'estate-workspace';
/** Increases with every change of the format that older services cannot read. */
export const FORMAT_VERSION = '1.0';
export const MANIFEST = 'manifest.json';

/** The rows of a table, one in each line. */
export const rowsName = (kind: string): string => `content/${kind}.ndjson`;
/** The name of the part with the content of a stored file. */
export const blobName = (id: string): string => `blobs/${id}`;

const Part = Type.Object({
  name: Type.String({ maxLength: 200 }),
  bytes: Type.Integer({ minimum: 0 }),
  /** Hexadecimal. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** For a file of rows: the table, the number of rows, and their columns. */
  kind: Type.Optional(Type.String({ maxLength: 100 })),
  rows: Type.Optional(Type.Integer({ minimum: 0 })),
  columns: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })),
});
export type ArchivePart = Static<typeof Part>;

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  format_version: Type.String({ pattern: '^[0-9]{1,4}\\.[0-9]{1,4}$' }),
  service_version: Type.String({ maxLength: 100 }),
  schema_version: Type.String({ maxLength: 200 }),
  /** The feed position that the rows include. */
  position: Type.String({ maxLength: 30 }),
  created_at: Type.String({ maxLength: 40 }),
  source_url: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]),
  include_archived: Type.Boolean(),
  files: Type.Array(Part),
  left_out: Type.Array(Type.Object({ table: Type.String(), class: Type.String(), why: Type.String() })),
});
export type Manifest = Static<typeof Manifest>;

/** Why an archive is refused; the message is returned to the user. */
export class ArchiveError extends Error {}

/** The manifest of a supported archive. @throws ArchiveError */
function readManifest(text: string, schema: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ArchiveError('manifest.json is no JSON.');
  }
  const { format, format_version: version } = (value ?? {}) as Record<string, unknown>;
  if (format !== FORMAT)
    throw new ArchiveError('It is no archive of a workspace: manifest.json does not say so.');
  if (typeof version === 'string' && isNewer(version)) {
    throw new ArchiveError(
      `The archive has the format ${version.slice(0, 20)}, and this service reads up to ${FORMAT_VERSION}: import it with a newer version.`,
    );
  }
  const error = Value.Errors(Manifest, value)[0];
  if (error) throw new ArchiveError(`manifest.json${error.instancePath} ${error.message}.`);
  const manifest = value as Manifest;
  if (manifest.schema_version > schema) {
    throw new ArchiveError(
      `The archive was made by a newer version (schema ${manifest.schema_version}, here ${schema}): import it with that version or a later one.`,
    );
  }
  return manifest;
}

function isNewer(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ours = 0, small = 0] = FORMAT_VERSION.split('.').map(Number);
  return major > ours || (major === ours && minor > small);
}

const GIB = 1024 ** 3;
/** The limits of an archive. */
export const archiveLimits = {
  /** Size of the archive in bytes. */
  packed: GIB,
  /** Total size of its parts in bytes. */
  unpacked: 8 * GIB,
  parts: 100_000,
  manifest: 64 * 1024 * 1024,
  /** Maximum characters of a row. */
  line: 32 * 1024 * 1024,
  /** Maximum compression ratio of large parts. */
  ratio: 250,
  small: 1024 * 1024,
};

/** An open archive with a checked manifest. */
export interface Archive {
  manifest: Manifest;
  /** The parts with rows, and those with stored files. */
  part(name: string): ArchivePart | undefined;
  /** The bytes of a part. @throws ArchiveError if they differ from the manifest. */
  read(part: ArchivePart): AsyncGenerator<Buffer>;
  close(): void;
}

/**
 * Opens an uploaded archive: only the manifest is unpacked, which must name every part, and the declared sizes of all
 * parts are checked. Reading a part that is larger than declared fails.
 * @throws ArchiveError
 */
export async function openArchive(
  blobs: BlobStore,
  file: { id: string; size: number },
  schema: string,
): Promise<Archive> {
  let zip: ZipFile;
  try {
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true };
    zip = await yauzl.fromRandomAccessReaderPromise(new StoredRanges(blobs, file.id), file.size, options);
  } catch (error) {
    throw unreadable(error);
  }
  try {
    const entries = await readEntries(zip);
    const manifest = readManifest(await readText(zip, entries.get(MANIFEST)), schema);
    const parts = matchParts(manifest, entries);
    return {
      manifest,
      part: (name) => parts.get(name),
      read: (part) => readPart(zip, entries.get(part.name)!, part),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error instanceof ArchiveError ? error : unreadable(error);
  }
}

/** The library's message for a format error; other errors are not caused by the archive. */
function unreadable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return error;
  const why = /end of central directory|truncated/i.test(message)
    ? 'it is not a zip file, or its end is missing'
    : message.slice(0, 200).replace(/\.+$/, '');
  return new ArchiveError(`The archive cannot be read: ${why}.`);
}

const NAME =
  /^(?:manifest\.json|content\/[a-z_]{1,63}\.ndjson|blobs\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

async function readEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > archiveLimits.parts) {
    throw new ArchiveError(`The archive has more than ${archiveLimits.parts} parts.`);
  }
  const entries = new Map<string, Entry>();
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    const { fileName: name, uncompressedSize: size, compressedSize } = entry;
    const shown = name.slice(0, 100);
    if (!NAME.test(name))
      throw new ArchiveError(`The archive contains a part that does not belong there: ${shown}.`);
    if (entries.has(name)) throw new ArchiveError(`The archive contains ${shown} twice.`);
    if (entry.isEncrypted()) throw new ArchiveError(`${shown} is encrypted.`);
    unpacked += size;
    if (unpacked > archiveLimits.unpacked) {
      throw new ArchiveError(`The archive unpacks to more than ${archiveLimits.unpacked} bytes.`);
    }
    if (size > archiveLimits.small && size > archiveLimits.ratio * compressedSize) {
      throw new ArchiveError(`${shown} unpacks to more than ${archiveLimits.ratio} times its size.`);
    }
    entries.set(name, entry);
  }
  return entries;
}

async function readText(zip: ZipFile, entry: Entry | undefined): Promise<string> {
  if (!entry) throw new ArchiveError('The archive has no manifest.json.');
  if (entry.uncompressedSize > archiveLimits.manifest) throw new ArchiveError('manifest.json is too long.');
  const chunks: Buffer[] = [];
  // A stream that is longer than its entry ends with its own error.
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new ArchiveError('manifest.json is no UTF-8.');
  return bytes.toString('utf8');
}

/** The parts of the manifest, checked against those of the archive. */
function matchParts(manifest: Manifest, entries: ReadonlyMap<string, Entry>): Map<string, ArchivePart> {
  const parts = new Map<string, ArchivePart>();
  for (const part of manifest.files) {
    const entry = entries.get(part.name);
    if (!entry || part.name === MANIFEST || parts.has(part.name)) {
      throw new ArchiveError(
        `The manifest names ${part.name.slice(0, 100)}, which is not in the archive once.`,
      );
    }
    if (entry.uncompressedSize !== part.bytes) {
      throw new ArchiveError(`${part.name} has another size than the manifest says.`);
    }
    const { kind } = part;
    if (part.name.startsWith('content/')) {
      const known = kind !== undefined && (contentTable.has(kind) || kind === PEOPLE || kind === SETTINGS);
      if (!known || part.name !== `content/${kind}.ndjson` || !part.columns || part.rows === undefined) {
        throw new ArchiveError(`The archive contains ${part.name}, which this service does not support.`);
      }
    }
    parts.set(part.name, part);
  }
  for (const name of entries.keys()) {
    if (name !== MANIFEST && !parts.has(name)) {
      throw new ArchiveError(`The archive contains ${name}, which its manifest does not name.`);
    }
  }
  return parts;
}

async function* readPart(zip: ZipFile, entry: Entry, part: ArchivePart): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let stream: Readable;
  try {
    stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw damaged(error, part.name);
  }
  if (hash.digest('hex') !== part.sha256) {
    throw new ArchiveError(`${part.name} is not what the manifest says: its checksum differs.`);
  }
}

/** Decompression errors are errors of the archive; errors of reading the file are not. */
function damaged(error: unknown, name: string): unknown {
  if (error instanceof ArchiveError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const own = code === undefined || code.startsWith('Z_') || code.startsWith('ERR_');
  return own ? new ArchiveError(`${name} cannot be unpacked: ${message.slice(0, 200)}.`) : error;
}

/** The lines of a part of rows. @throws ArchiveError */
export async function* linesOf(archive: Archive, part: ArchivePart): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let seen = 0;
  const decode = (bytes?: Buffer) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new ArchiveError(`${part.name} is no UTF-8.`);
    }
  };
  for await (const bytes of archive.read(part)) {
    const lines = (rest + decode(bytes)).split('\n');
    rest = lines.pop()!;
    if (rest.length > archiveLimits.line) throw new ArchiveError(`A row of ${part.name} is too long.`);
    seen += lines.length;
    if (lines.length > 0) yield lines;
  }
  decode();
  if (rest !== '') throw new ArchiveError(`${part.name} ends within a row.`);
  if (seen !== part.rows) throw new ArchiveError(`${part.name} has ${seen} rows, not ${part.rows}.`);
}
