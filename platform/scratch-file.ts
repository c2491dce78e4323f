import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';

/** A stored value. */
export interface Scratch<T> {
  readonly at: number;
  readonly length: number;
  /** Only for the compiler. */
  readonly type?: T;
}

/**
 * Plain data outside of the memory, in a file without a name: the system frees it when it is closed or the process ends. It blocks
 * its thread.
 */
export class ScratchFile {
  readonly #file: number;
  #end = 0;

  constructor() {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'estate-'));
    try {
      this.#file = openSync(path.join(folder, 'scratch'), 'wx+', 0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  put<T>(value: T): Scratch<T> {
    const bytes = serialize(value);
    const at = this.#end;
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, at + done);
    this.#end += bytes.length;
    return { at, length: bytes.length };
  }

  get<T>({ at, length }: Scratch<T>): T {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, bytes, done, length - done, at + done);
      if (read === 0) throw new Error('The scratch file has been truncated.');
      done += read;
    }
    return deserialize(bytes) as T;
  }

  close(): void {
    closeSync(this.#file);
  }
}
