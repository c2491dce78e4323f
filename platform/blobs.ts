import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileSink } from './file-sink.ts';

export interface BlobInfo {
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

/** Where files are kept. The key is a UUID of the caller's; an object store fits the same interface. */
export interface BlobStore {
  /** Stores the stream under the key, whole or not at all; replaces what was there. */
  put(key: string, content: Readable): Promise<BlobInfo>;
  /** Reads all, or the bytes `start` to `end` (both included). @throws Error with code ENOENT when absent. */
  get(key: string, range?: { start: number; end: number }): Promise<Readable>;
  remove(key: string): Promise<void>;
  /**
   * Keys of blobs last written before the moment, for the clean-up of what no row names; halves of blobs from then
   * are removed on the way.
   */
  olderThan(moment: Date): AsyncIterable<string>;
}

/** Bytes that are read at once: for a long file the file system is asked a sixteenth as often as by default. */
const READ = 1024 * 1024;

/** A blob store in a folder; a blob appears under its name only when it is complete and on disk. */
export function createDiskBlobStore(folder: string): BlobStore {
  const place = (key: string) => {
    if (!/^[0-9a-f-]{36}$/.test(key)) throw new Error(`not a blob key: ${key}`);
    // the last digits are random in every UUID version, the first ones are not
    return path.join(folder, key.slice(-2), key);
  };
  return {
    async put(key, content) {
      const target = place(key);
      const partial = `${target}.${randomUUID()}.part`;
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      const file = new FileSink(partial);
      try {
        await pipeline(content, file);
        await rename(partial, target);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      return { size: file.size, sha256: file.sha256() };
    },
    async get(key, range) {
      const source = place(key);
      await stat(source);
      return createReadStream(source, { ...range, highWaterMark: READ });
    },
    async remove(key) {
      await rm(place(key), { force: true });
    },
    async *olderThan(moment) {
      const shelves = await readdir(folder).catch(() => [] as string[]);
      for (const shelf of shelves) {
        for (const name of await readdir(path.join(folder, shelf)).catch(() => [] as string[])) {
          const info = await stat(path.join(folder, shelf, name)).catch(() => undefined);
          if (!info || info.mtime >= moment) continue;
          if (/^[0-9a-f-]{36}$/.test(name)) yield name;
          // what a killed process had not finished
          else if (name.endsWith('.part')) await rm(path.join(folder, shelf, name), { force: true });
        }
      }
    },
  };
}
