import { release } from '../../platform/release.ts';
import { copyBytes, ID_TEXT, maxJsonLength, writeId, writeJsonText } from './report.json-rows.ts';

/**
 * A growing buffer for a long response body. It avoids an object per chunk and a final concatenation.
 */
export class ReportBody {
  #bytes: Buffer;
  #used = 0;

  /** @param expected bytes; growing beyond it copies the buffer. */
  constructor(expected: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected);
  }

  /** Number of written bytes. */
  get length(): number {
    return this.#used;
  }

  text(text: string): void {
    this.#room(Buffer.byteLength(text));
    this.#used += this.#bytes.write(text, this.#used);
  }

  /** Appends a range of another buffer. */
  copy(source: Buffer, from = 0, to = source.length): void {
    this.#room(to - from);
    this.#used = copyBytes(source, from, to, this.#bytes, this.#used);
  }

  /** Appends the id with its bytes at an offset, as text. */
  id(source: Buffer, from: number): void {
    this.#room(ID_TEXT);
    this.#used = writeId(source, from, this.#bytes, this.#used);
  }

  /** Appends a text in UTF-8 as JSON. */
  jsonText(source: Buffer, from: number, to: number): void {
    this.#room(maxJsonLength(to - from));
    this.#used = writeJsonText(source, from, to, this.#bytes, this.#used);
  }

  /** Removes the last bytes. */
  takeBack(bytes: number): void {
    this.#used -= bytes;
  }

  /** All written bytes. */
  whole(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Takes what was written, so that the body begins anew. */
  take(): Buffer {
    const taken = this.whole();
    this.#bytes = Buffer.allocUnsafeSlow(this.#bytes.length);
    this.#used = 0;
    return taken;
  }

  #room(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.ceil(needed * 1.25));
    this.#bytes.copy(larger, 0, 0, this.#used);
    release(this.#bytes);
    this.#bytes = larger;
  }
}
