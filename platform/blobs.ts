import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface BlobInfo {
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

/** Stores files. The key is a UUID chosen by the caller. */
export interface BlobStore {
  /** Stores the stream under the key, completely or not at all; replaces an existing blob. */
  put(key: string, content: Readable): Promise<BlobInfo>;
  /** Reads all, or the bytes `start` to `end` (both included). @throws Error with code ENOENT when absent. */
  get(key: string, range?: { start: number; end: number }): Promise<Readable>;
  remove(key: string): Promise<void>;
  /**
   * Keys of blobs last written before the given time, for the clean-up of blobs without a row; deletes partial blobs of
   * that age.
   */
  olderThan(moment: Date): AsyncIterable<string>;
}

/** Read chunk size in bytes: 16 times the default, so that long files need fewer reads. */
const READ = 1024 * 1024;
/** Bytes that are buffered while a write is running; they are written together. */
const WRITE = 512 * 1024;

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
      const hash = createHash('sha256');
      let size = 0;
      async function* measured(chunks: AsyncIterable<Buffer | string>) {
        for await (const given of chunks) {
          const chunk = Buffer.from(given as Buffer);
          hash.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      }
      try {
        // the pipeline ends when the file is on disk and closed
        const file = createWriteStream(partial, { mode: 0o600, highWaterMark: WRITE, flush: true });
        await pipeline(content, measured, file);
        await rename(partial, target);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      return { size, sha256: hash.digest('hex') };
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
          // Partial files of crashed processes.
          else if (name.endsWith('.part')) await rm(path.join(folder, shelf, name), { force: true });
        }
      }
    },
  };
}
