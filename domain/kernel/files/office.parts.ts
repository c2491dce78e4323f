import type { Entry, ZipFile } from 'yauzl';

const MAX_PARTS = 10_000;

/**
 * The parts of an opened office document by name, by what the archive declares: nothing is unpacked.
 * @param maxUnpacked what all parts together may unpack to, in MiB.
 * @throws Error with the reason why it is refused.
 */
export async function officeParts(zip: ZipFile, maxUnpacked: number): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_PARTS) throw new Error(`it has more than ${MAX_PARTS} parts`);
  const parts = new Map<string, Entry>();
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (unpacked > maxUnpacked * 1024 * 1024) throw new Error(`it unpacks to more than ${maxUnpacked} MiB`);
    if (entry.isEncrypted()) throw new Error('it is encrypted');
    if (parts.has(entry.fileName)) throw new Error('it contains a part twice');
    if (/vbaProject/i.test(entry.fileName)) throw new Error('it contains macros');
    parts.set(entry.fileName, entry);
  }
  return parts;
}
