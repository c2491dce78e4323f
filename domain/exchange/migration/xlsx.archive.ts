import type { Readable } from 'node:stream';
import yauzl, { type Entry } from 'yauzl';
import type { BlobStore } from '../../../platform/blobs.ts';
import { StoredRanges } from '../../kernel/files/files.store.ts';

const MAX_PARTS = 10_000;
/** What all parts together may unpack to: 512 MiB. */
const MAX_UNPACKED = 512 * 1024 * 1024;

/** The parts of an archive, read where they stand: nothing is unpacked to memory or disk. */
export interface Archive {
  has(name: string): boolean;
  /** @throws Error when the part unpacks to more than the archive says, or is broken. */
  open(name: string): Promise<Readable>;
  close(): void;
}

/**
 * Opens a stored archive. What it says of its parts is counted before any is unpacked, and none may unpack to more.
 * @throws Error saying why it is refused.
 */
export async function openArchive(blobs: BlobStore, id: string, size: number): Promise<Archive> {
  const zip = await yauzl.fromRandomAccessReaderPromise(new StoredRanges(blobs, id), size, {
    autoClose: false,
  });
  const parts = new Map<string, Entry>();
  let unpacked = 0;
  try {
    if (zip.entryCount > MAX_PARTS) throw new Error(`it has more than ${MAX_PARTS} parts`);
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize;
      if (unpacked > MAX_UNPACKED) throw new Error('it unpacks to more than 512 MiB');
      if (entry.isEncrypted()) throw new Error('it is encrypted');
      if (parts.has(entry.fileName)) throw new Error('it holds a part twice');
      if (/vbaProject/i.test(entry.fileName)) throw new Error('it holds macros');
      parts.set(entry.fileName, entry);
    }
  } catch (error) {
    zip.close();
    throw error;
  }
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
