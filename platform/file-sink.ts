import { createHash } from 'node:crypto';
import { createWriteStream, fdatasync, type WriteStream } from 'node:fs';
import { finished, Writable } from 'node:stream';

/** Bytes that may wait to be written: what comes while the file system is at work goes to it together. */
const WAITING = 512 * 1024;

/** Bytes after which the disk is told to take what is written: at the end all that is left would have to be waited for. */
const FLUSHED = 8 * 1024 * 1024;

type Done = (error?: Error | null) => void;

/**
 * Writes a file, and knows its size and hash when it has finished: all of it is on the disk then. It is done with a chunk
 * when the file system has it.
 */
export class FileSink extends Writable {
  readonly #hash = createHash('sha256');
  readonly #file: WriteStream;
  #fd: number | undefined;
  /** Bytes that nobody has told the disk to take. */
  #unflushed = 0;
  #flushing = false;
  /** Called when no flushing is under way. */
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
    this.#whenFlushed(() => this.#file.end());
  }

  override _destroy(error: Error | null, done: Done): void {
    // a number of a file that is closed may be another's at once
    this.#whenFlushed(() => this.#file.destroy());
    done(error);
  }

  #whenFlushed(act: () => void): void {
    if (this.#flushing) this.#flushed = act;
    else act();
  }

  /** Has the disk take what the file system has, beside what is still written. */
  #flush(): void {
    if (this.#flushing || this.#unflushed < FLUSHED || this.#fd === undefined || this.#file.destroyed) return;
    this.#unflushed = 0;
    this.#flushing = true;
    fdatasync(this.#fd, (error) => {
      this.#flushing = false;
      // the next one to ask would not be told; and at once, as whoever writes to the file meanwhile learns no more than that
      // it is gone
      if (!error) return this.#flushed?.();
      this.destroy(error);
      // also where this had been given up before
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
