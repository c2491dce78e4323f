import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, fdatasync, type WriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { finished, type Readable, Writable } from 'node:stream';
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
          // Partial files of crashed processes.
          else if (name.endsWith('.part')) await rm(path.join(folder, shelf, name), { force: true });
        }
      }
    },
  };
}

/** Maximum buffered bytes: chunks that arrive during a write are written together. */
const WAITING = 512 * 1024;

/** Bytes after which data is flushed to disk in the background, so that the final flush is short. */
const FLUSHED = 8 * 1024 * 1024;

type Done = (error?: Error | null) => void;

/**
 * Writes a file, and computes its size and hash; when it has finished, all data is on disk. The callback of a chunk is
 * called when the file system has accepted it.
 */
export class FileSink extends Writable {
  readonly #hash = createHash('sha256');
  readonly #file: WriteStream;
  #fd: number | undefined;
  /** Bytes that were not flushed yet. */
  #unflushed = 0;
  #flushing = false;
  /** Called when no flush is running. */
  #flushed: (() => void) | undefined;
  /** Bytes. */
  size = 0;

  constructor(path: string) {
    super({ highWaterMark: WAITING });
    this.#file = createWriteStream(path, { mode: 0o600, highWaterMark: WAITING, flush: true });
    this.#file.on('error', (error) => this.destroy(error));
    this.#file.once('open', (fd) => {
      this.#fd = fd;
    });
  }

  /** Hexadecimal; can be called once. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#look(chunk);
    this.#file.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this.#file.cork();
    const last = chunks.length - 1;
    for (const [n, { chunk }] of chunks.entries()) {
      this.#look(chunk);
      this.#file.write(chunk, n === last ? done : undefined);
    }
    this.#file.uncork();
  }

  override _final(done: Done): void {
    // `close` instead of `finish`: the last flush is between the two.
    finished(this.#file, done);
    this.#whenFlushed(() => this.#file.end());
  }

  override _destroy(error: Error | null, done: Done): void {
    // The descriptor of a closed file may be reused immediately.
    this.#whenFlushed(() => this.#file.destroy());
    done(error);
  }

  #whenFlushed(act: () => void): void {
    if (this.#flushing) this.#flushed = act;
    else act();
  }

  /** Flushes written data to disk while further data is written. */
  #flush(): void {
    if (this.#flushing || this.#unflushed < FLUSHED || this.#fd === undefined || this.#file.destroyed) return;
    this.#unflushed = 0;
    this.#flushing = true;
    fdatasync(this.#fd, (error) => {
      this.#flushing = false;
      // Destroyed at once, with the error: later writes only report that the file is closed.
      if (!error) return this.#flushed?.();
      this.destroy(error);
      // Also if the stream was destroyed before.
      this.#file.destroy();
    });
  }

  #look(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.size += chunk.length;
    this.#unflushed += chunk.length;
    this.#flush();
  }
}
