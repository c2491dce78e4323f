import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished, Writable } from 'node:stream';
import { sweep } from './heap.ts';

/** Bytes that may wait to be written: what comes while the file system is at work goes to it together. */
const WAITING = 512 * 1024;

type Done = (error?: Error | null) => void;

/**
 * Writes a file, and knows its size and hash when it has finished: all of it is on the disk then. It is done with a chunk
 * when the file system has it.
 */
export class FileSink extends Writable {
  readonly #hash = createHash('sha256');
  readonly #file: WriteStream;
  /** Bytes. */
  size = 0;

  constructor(path: string) {
    super({ highWaterMark: WAITING });
    this.#file = createWriteStream(path, { mode: 0o640, highWaterMark: WAITING, flush: true });
    this.#file.on('error', (error) => this.destroy(error));
  }

  /** Hexadecimal; to be asked for once. */
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
    // closed is more than finished: what is flushed is flushed between the two
    finished(this.#file, done);
    this.#file.end();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#file.destroy();
    done(error);
  }

  #look(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.size += chunk.length;
    sweep(chunk.length);
  }
}
